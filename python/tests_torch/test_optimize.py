"""optimize: what is replaced, what it gives, what it leaves alone, and that all can be undone. Races are decided by hand but for one test."""

import copy
import io

import pytest
import torch
from torch import nn
from torch.nn.utils import prune

import kernelwright.torch as kwt
from kernelwright import Error
from kernelwright.torch import _optimize
from kernelwright.torch._race import Race, race


@pytest.fixture
def won(monkeypatch):
    monkeypatch.setattr(_optimize, "race", lambda *_: Race(1.0, 2.0, 0.5, 0.01))


@pytest.fixture
def whole_lost(monkeypatch):
    """Layers win, the model does not."""
    monkeypatch.setattr(_optimize, "race", lambda *_: Race(1.0, 2.0, 0.5, 0.01))
    decide = _optimize._decide

    def lost(*args):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_optimize, "race", lambda *a: Race(2.0, 1.0, 1.0, 0.01))
            decide(*args)

    monkeypatch.setattr(_optimize, "_decide", lost)


def model():
    return nn.Sequential(
        nn.Conv2d(4, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, groups=4, bias=False, padding="same"),
        nn.Flatten(),
        nn.Linear(8 * 36, 5),
    )


def near(a, b):
    assert (a - b).abs().max() <= 1e-5 * b.abs().max()


X = torch.randn(2, 4, 6, 6)


def test_layers_that_win_are_replaced_and_restored(won):
    m = model().eval()
    names, before = list(m.state_dict()), m(X).detach()
    report = kwt.optimize(m, X)
    assert report.kept and [row.taken for row in report.rows] == [True] * 3 and "3 layers are replaced" in str(report)
    assert list(m.state_dict()) == names and [type(c).__name__ for c in m][0] == "Conv2d"
    with torch.no_grad():
        near(m(X), before)
        assert torch.equal(m(X), m(X))
        assert m[0].forward.state is not None  # ours ran
    assert kwt.restore(m) == 3 and "forward" not in m[0].__dict__
    assert torch.equal(m(X), before)


def test_new_weights_are_seen(won):
    m = model().eval()
    kwt.optimize(m, X)
    other = model().eval()
    with torch.no_grad():
        for change in (lambda: m.load_state_dict(other.state_dict()), lambda: [p.mul_(2) for p in (*m.parameters(), *other.parameters())]):
            m(X)
            change()
            near(m(X), other(X))
        m[5].weight = nn.Parameter(other[5].weight.clone().neg_())
        other[5].weight.neg_()
        near(m(X), other(X))


def test_graphs_are_of_gpus(won):
    m = model().eval()
    report = kwt.optimize(m, X, graphs=True)
    assert not report.kept and {row.why for row in report.rows} == {"lies on device cpu, which has no CUDA graphs"}


@pytest.mark.parametrize("wrong", [RuntimeError, Error])
def test_what_fails_leaves_the_model_as_it_was(won, monkeypatch, wrong):
    """What is ours is told by the report, all else comes out."""

    def fails(*_):
        raise wrong("no whole model here")

    decide = _optimize._decide

    def decides(*args):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_optimize, "race", fails)
            decide(*args)

    monkeypatch.setattr(_optimize, "_decide", decides)
    m = model().eval()
    if wrong is Error:
        report = kwt.optimize(m, X)
        assert not report.kept and report.why == "The whole model: no whole model here; all is undone." and not any(row.taken for row in report.rows)
    else:
        with pytest.raises(RuntimeError, match="no whole model"):
            kwt.optimize(m, X)
    assert kwt.restore(m) == 0


def test_what_was_not_raced_is_pytorchs(won):
    m = model().eval()
    plain = copy.deepcopy(m)
    kwt.optimize(m, X)
    small = m[:4]
    with torch.no_grad():
        assert torch.equal(small(X[:1]), plain[:4](X[:1]))  # another shape
        assert torch.equal(small(X.to(memory_format=torch.channels_last)), plain[:4](X.to(memory_format=torch.channels_last)))
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.equal(m(X), plain(X))
    assert torch.equal(m(X), plain(X))  # with gradients, after a race of inference


def test_copies_and_saved_models_are_models_of_their_own(won):
    m = model().eval()
    kwt.optimize(m, X)
    saved = io.BytesIO()
    torch.save(m, saved)
    saved.seek(0)
    with torch.no_grad():
        want = m(X)
        for twin in (copy.deepcopy(m), torch.load(saved, weights_only=False)):
            near(twin(X), want)
            twin[5].weight.zero_()
            twin[5].bias.zero_()
            assert not twin(X).any() and torch.equal(m(X), want)


def test_training_keeps_gradients_and_statistics(won):
    m = model().train()
    plain = copy.deepcopy(m)
    report = kwt.optimize(m, X, mode="training")
    assert report.kept and {row.what for row in report.rows} >= {"forward", "gradient of x", "gradient of w"}
    assert not any("rounding" in row.why for row in report.rows)
    assert all(torch.equal(a, b) for a, b in zip(m.buffers(), plain.buffers()))
    for each in (m, plain):
        each(X).square().sum().backward()
    for (name, a), b in zip(m.named_parameters(), plain.parameters()):
        assert (a.grad - b.grad).abs().max() <= 1e-4 * b.grad.abs().max() + 1e-4, name


def test_a_model_that_does_not_gain_is_left_as_it_was(whole_lost):
    m = model().eval()
    before = m(X)
    report = kwt.optimize(m, X)
    assert not report.kept and "all is undone" in str(report) and not any(row.taken for row in report.rows)
    assert kwt.restore(m) == 0 and torch.equal(m(X), before)


def test_wrong_results_are_never_taken(won, monkeypatch):
    run = _optimize._Site.__call__
    monkeypatch.setattr(_optimize._Site, "__call__", lambda self, x: run(self, x) + 1e-3)
    report = kwt.optimize(model().eval(), X)
    assert not any(row.taken for row in report.rows) and all("further off" in row.why for row in report.rows)


class Mine(nn.Linear):
    pass


@pytest.mark.parametrize(
    ("layer", "x", "says"),
    [
        (lambda: nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"), X, "padding by reflect"),
        (lambda: nn.Conv2d(4, 4, 2, padding="same"), X, "padding that differs"),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 4, 3)), X, "Conv2d may do something else"),
        (lambda: prune.identity(nn.Linear(4, 4), "weight"), torch.randn(3, 4), "made anew by a hook"),
        (lambda: Mine(4, 4), torch.randn(3, 4), "class Mine may do something else"),
        (lambda: nn.Linear(4, 4).double(), torch.randn(3, 4).double(), "elements are torch.float64"),
        (lambda: nn.Conv2d(4, 4, 3), X[0], "has no axis of images"),
        (lambda: nn.Linear(4, 4), torch.randn(0, 4), "has no elements"),
    ],
)
def test_what_is_left_alone_says_why(won, layer, x, says):
    m = nn.Sequential(layer())
    before = m(x)
    report = kwt.optimize(m, x)
    assert not report.kept and len(report.rows) == 1 and says in report.rows[0].why
    assert torch.equal(m(x), before)


def test_budget_and_filter(won):
    report = kwt.optimize(model().eval(), X, budget_s=0)
    assert all("the budget of 0 s was spent" in row.why for row in report.rows)
    assert len(kwt.optimize(model().eval(), X, filter_fn=lambda name, module: name == "5").rows) == 1
    with pytest.raises(ValueError, match="mode 'fast' is not known"):
        kwt.optimize(model(), X, mode="fast")
    with pytest.raises(TypeError, match="model: a list is no torch.nn.Module"):
        kwt.optimize([model()], X)


class Named(nn.Module):
    """Calls its layer by the argument's name."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 5)

    def forward(self, x):
        return self.layer(input=x)


def test_layers_called_by_name_are_replaced(won):
    m, x = Named().eval(), torch.randn(3, 6)
    before = m(x).detach()
    assert kwt.optimize(m, x).kept
    with torch.no_grad():
        near(m(x), before)


def test_a_race_tells_fast_from_slow_and_not_equals():
    def work(n):
        a = torch.ones(n)
        return lambda: a.exp()

    device = torch.device("cpu")
    assert race(work(1000), work(100_000), device, 9).is_won(0.02)
    assert not race(work(100_000), work(1000), device, 9).is_won(0.02)
    assert not race(work(20_000), work(20_000), device, 9).is_won(0.25)
