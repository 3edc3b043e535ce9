// Faults that tests build into passes, to see that `burin check --bisect` names them
// (tests/e2e/bisect.sh). burin has none.
#ifndef BURIN_PASSES_FAULT_H
#define BURIN_PASSES_FAULT_H

#ifndef FAULT_NORM_EPSILON
#define FAULT_NORM_EPSILON 0  // is added to the epsilon of norms that are recognised
#endif
#ifndef FAULT_ABORT
#define FAULT_ABORT (-1)  // a Pass that aborts
#endif
#ifndef FAULT_OPERAND
#define FAULT_OPERAND (-1)  // a Pass that changes an operand without counting users
#endif
#endif
