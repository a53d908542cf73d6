"""Five small PyTorch models, each given to kernelwright.torch.optimize; the table says what was replaced and what the whole model gained.

python torch_models.py [--mode inference|training] [--device cpu|cuda] [--dtype fp32|bf16|fp16] [--batch N] [--threads N] [--turns N]
                       [--channels-last] [--width N] [--plans shortlist|predict] [--graphs] [--budget S] [MODEL ...]

batch is that of the images; the decoder has two rows and layers of that width. graphs: as replays of CUDA graphs. budget: s of a model's races.
"""

import argparse

import torch
from torch import nn

import kernelwright.torch as kwt


class Residual(nn.Module):
    """x and what its body makes of it."""

    def __init__(self, *body):
        super().__init__()
        self.body = nn.Sequential(*body)

    def forward(self, x):
        return x + self.body(x)


def resnext():
    """Three bottlenecks of 32 groups."""
    block = [
        lambda: Residual(
            nn.Conv2d(256, 128, 1, bias=False), nn.BatchNorm2d(128), nn.ReLU(),
            nn.Conv2d(128, 128, 3, padding=1, groups=32, bias=False), nn.BatchNorm2d(128), nn.ReLU(),
            nn.Conv2d(128, 256, 1, bias=False), nn.BatchNorm2d(256),
        )
    ]  # fmt: skip
    return nn.Sequential(*[block[0]() for _ in range(3)]), torch.randn(1, 256, 28, 28)


def mobilenet():
    """Inverted residuals: pointwise, depthwise, pointwise."""

    def block():
        return Residual(
            nn.Conv2d(32, 192, 1, bias=False), nn.BatchNorm2d(192), nn.ReLU6(),
            nn.Conv2d(192, 192, 3, padding=1, groups=192, bias=False), nn.BatchNorm2d(192), nn.ReLU6(),
            nn.Conv2d(192, 32, 1, bias=False), nn.BatchNorm2d(32),
        )  # fmt: skip

    first = [nn.Conv2d(3, 32, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()]
    last = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 100)]
    return nn.Sequential(*first, block(), block(), *last), torch.randn(1, 3, 56, 56)


class Last(nn.Module):
    """Channels to the end, or back."""

    def __init__(self, *axes):
        super().__init__()
        self.axes = axes

    def forward(self, x):
        return x.permute(*self.axes)


def convnext():
    """Depthwise 7x7, then two linear layers on channels."""

    def block():
        return Residual(
            nn.Conv2d(96, 96, 7, padding=3, groups=96), Last(0, 2, 3, 1), nn.LayerNorm(96), nn.Linear(96, 384), nn.GELU(), nn.Linear(384, 96),
            Last(0, 3, 1, 2),
        )  # fmt: skip

    model = nn.Sequential(nn.Conv2d(3, 96, 4, stride=4), block(), block())
    return model.to(memory_format=torch.channels_last), torch.randn(1, 3, 112, 112).to(memory_format=torch.channels_last)


def video():
    """3D convolutions."""
    model = nn.Sequential(
        nn.Conv3d(3, 16, 3, stride=(1, 2, 2), padding=1), nn.ReLU(), nn.Conv3d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2),
        nn.Conv3d(32, 32, 3, padding=1), nn.ReLU(),
    )  # fmt: skip
    return model, torch.randn(1, 3, 8, 32, 32)


class Decoder(nn.Module):
    """Transformer blocks on one new token for each of few sequences, over keys and values of those before."""

    def __init__(self, width=512, layers=3, heads=8, past=64, rows=2):
        super().__init__()
        self.heads = heads
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {"norm": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width),
                 "after": nn.LayerNorm(width), "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)}
            )
            for _ in range(layers)
        )  # fmt: skip
        self.register_buffer("keys", torch.randn(layers, rows, heads, past, width // heads))
        self.register_buffer("values", torch.randn(layers, rows, heads, past, width // heads))

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            q, k, v = (t.unflatten(-1, (self.heads, -1)).unsqueeze(2) for t in block["qkv"](block["norm"](x)).chunk(3, -1))
            k, v = torch.cat([self.keys[i], k], 2), torch.cat([self.values[i], v], 2)
            x = x + block["out"](nn.functional.scaled_dot_product_attention(q, k, v).flatten(1))
            x = x + block["down"](nn.functional.gelu(block["up"](block["after"](x))))
        return x


def decoder(width=512):
    """A transformer that decodes: products of two rows."""
    return Decoder(width), torch.randn(2, width)


TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
MODELS = {"resnext": resnext, "mobilenet": mobilenet, "convnext": convnext, "video": video, "decoder": decoder}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--mode", default="inference")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--turns", type=int, default=21)
    arguments.add_argument("--device", default="cpu")
    arguments.add_argument("--dtype", default="fp32", choices=TYPES)
    arguments.add_argument("--batch", type=int, default=1)
    arguments.add_argument("--channels-last", action="store_true")
    arguments.add_argument("--width", type=int, default=512)
    arguments.add_argument("--plans", default="shortlist")
    arguments.add_argument("--graphs", action="store_true")
    arguments.add_argument("--budget", type=float, default=600)
    arguments.add_argument("models", nargs="*", default=list(MODELS))
    said = arguments.parse_args()
    torch.set_num_threads(said.threads)
    torch.backends.cudnn.benchmark = True  # PyTorch's best, too
    for name in said.models:
        torch.manual_seed(0)
        model, example = decoder(said.width) if name == "decoder" else MODELS[name]()
        last = said.channels_last or (example.dim() == 4 and example.is_contiguous(memory_format=torch.channels_last))
        if example.dim() > 2:
            form = torch.contiguous_format if not last else torch.channels_last if example.dim() == 4 else torch.channels_last_3d
            example = torch.randn(said.batch, *example.shape[1:]).contiguous(memory_format=form)
            model = model.to(memory_format=form)
        model, example = model.to(said.device, TYPES[said.dtype]), example.to(said.device, TYPES[said.dtype])
        model.train(said.mode == "training")
        before = model(example).detach()
        with kwt.plan_mode(said.plans):
            report = kwt.optimize(model, example, mode=said.mode, turns=said.turns, graphs=said.graphs, budget_s=said.budget)
        with torch.no_grad() if said.mode == "inference" else torch.enable_grad():
            off = (model(example) - before).abs().max() / before.abs().max()
        order = (", channels last" if last and example.dim() > 2 else "") + (", CUDA graphs" if said.graphs else "")
        print(f"\n## {name}, {said.mode}, {said.dtype} on {said.device}{order}\n\n{report}\nOff what it gave before by {off.item():.1e} of the largest value.", flush=True)


if __name__ == "__main__":
    main()
