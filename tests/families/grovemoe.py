"""Makes tests/families/grovemoe: transformers' Qwen3-MoE with the mixture of github.com/inclusionAI/GroveMoE, which transformers
does not have.

    python tests/families/grovemoe.py        needs what generate.py needs
"""
import torch
import transformers
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeMLP, Qwen3MoeSparseMoeBlock

import generate
from models import GROUPED


class Mixture(Qwen3MoeSparseMoeBlock):
    def __init__(self, config):
        super().__init__(config)
        self.chunk_experts = torch.nn.ModuleList(Qwen3MoeMLP(config, intermediate_size=128) for _ in range(self.num_experts // 2))

    def forward(self, x):
        experts, router = super().forward(x)
        chosen = torch.topk(router.sigmoid(), self.top_k, dim=-1).indices
        shares = router.softmax(-1).gather(-1, chosen)
        shares = shares / shares.sum(-1, keepdim=True)
        rows = x.reshape(-1, x.shape[-1])
        small = torch.zeros_like(rows)
        for row, rank in ((row, rank) for row in range(len(rows)) for rank in range(self.top_k)):
            small[row] += self.chunk_experts[chosen[row, rank] // 2](rows[row]) * shares[row, rank]
        return experts + 0.05 * small.reshape(x.shape), router


class GroveMoeConfig(transformers.Qwen3MoeConfig):
    model_type = "grove_moe"


class GroveMoeForCausalLM(transformers.Qwen3MoeForCausalLM):
    config_class = GroveMoeConfig

    def __init__(self, config):
        super().__init__(config)
        for layer in self.model.layers:
            layer.mlp = Mixture(config)


if __name__ == "__main__":
    generate.transformers.GroveMoeForCausalLM = GroveMoeForCausalLM
    generate.generate("grovemoe", "decoder", "GroveMoeForCausalLM",
             dict(GROUPED, head_dim=16, num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32, norm_topk_prob=True))
