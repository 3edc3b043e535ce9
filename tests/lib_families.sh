# The models of tests/families and, as shared-NAME, those of ../shared/data/families: folders in $models.
models=$WORK/models
mkdir "$models"
for _config in tests/families/*/config.json; do
    _folder=${_config%/config.json}
    "$BUILD/tools/family_weights" "$_folder" "$models/${_folder##*/}" || not_ok "weights of $_folder"
done
[ -d "$SHARED/data/families" ] && for _config in "$SHARED"/data/families/*/config.json; do
    _folder=$(cd "${_config%/config.json}" && pwd)
    ln -s "$_folder" "$models/shared-${_folder##*/}"
done
