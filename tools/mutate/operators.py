"""operators.py: what mutate.py does to a text. An operator is a name, the texts that it is for, a pattern and what takes its place; patterns see
a file without its comments, strings and preprocessor lines. C: the library's sources; CPU, GPU: kernel texts."""
import re

C, CPU, GPU = "c", "cpu", "gpu"
EVERY = (C, CPU, GPU)
KERNELS = (CPU, GPU)
_CALL = r"\b{}\((?:[^()]|\([^()]*\))*\)"


def _operator(name, kinds, pattern, replacement):
    return name, kinds, re.compile(pattern, re.M), replacement


def _without(call):
    """A statement that is one call of this name goes."""
    return r"(?<=[;{}\n])(\s*)" + _CALL.format(call) + ";"


OPERATORS = [
    # Comparisons and bounds
    _operator("lt-to-le", EVERY, r"(?<= )<(?= )", "<="),
    _operator("le-to-lt", EVERY, r"(?<= )<=(?= )", "<"),
    _operator("gt-to-ge", EVERY, r"(?<= )>(?= )", ">="),
    _operator("ge-to-gt", EVERY, r"(?<= )>=(?= )", ">"),
    _operator("eq-to-ne", EVERY, r"(?<= )==(?= )", "!="),
    _operator("ne-to-eq", EVERY, r"(?<= )!=(?= )", "=="),
    _operator("loop-one-less", EVERY, r"(for \([^;]*; \w+ )< ([^;]+);", r"\1< (\2) - 1;"),
    _operator("loop-one-more", (C,), r"(for \([^;]*; \w+ )< ([^;]+);", r"\1<= \2;"),
    _operator("loop-from-one", EVERY, r"(for \([\w ]+ \w+ = )0;", r"\g<1>1;"),
    # Logic
    _operator("and-to-or", EVERY, r"(?<= )&&(?= )", "||"),
    _operator("or-to-and", EVERY, r"(?<= )\|\|(?= )", "&&"),
    _operator("not-dropped", EVERY, r"(?<=[ (])!(?=[\w(])", ""),
    _operator("if-always", EVERY, r"\bif \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\) \{", r"if ((\1) || 1) {"),
    _operator("if-never", EVERY, r"\bif \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\) \{", r"if ((\1) && 0) {"),
    _operator("choice-swapped", EVERY, r" \? ([\w.>\-\[\]]+) : ([\w.>\-\[\]]+)(?=[;,)])", r" ? \2 : \1"),
    _operator("true-to-false", (C,), r"\breturn true;", "return false;"),
    _operator("false-to-true", (C,), r"\breturn false;", "return true;"),
    # Arithmetic
    _operator("plus-to-minus", EVERY, r"(?<=[\w)\]] )\+(?= [\w(])", "-"),
    _operator("minus-to-plus", EVERY, r"(?<=[\w)\]] )-(?= [\w(])", "+"),
    _operator("times-to-plus", EVERY, r"(?<=[\w)\]] )\*(?= [\w(])", "+"),
    _operator("divide-to-times", EVERY, r"(?<=[\w)\]] )/(?= [\w(])", "*"),
    _operator("remainder-to-divide", EVERY, r"(?<=[\w)\]] )%(?= [\w(])", "/"),
    _operator("add-assign-to-assign", EVERY, r"(?<= )\+=(?= )", "="),
    _operator("add-assign-to-subtract", EVERY, r"(?<= )\+=(?= )", "-="),
    _operator("shift-turned", EVERY, r"(?<=\w )<<(?= \w)", ">>"),
    _operator("bits-and-to-or", EVERY, r"(?<=[\w)] )&(?= [\w(])", "|"),
    _operator("bits-or-to-and", EVERY, r"(?<=[\w)] )\|(?= [\w(])", "&"),
    _operator("minimum-to-maximum", EVERY, r"\b(kw_min\w*|KW_MIN)\(", lambda m: m.group(1).replace("min", "max").replace("MIN", "MAX") + "("),
    _operator("maximum-to-minimum", EVERY, r"\b(kw_max\w*|KW_MAX)\(", lambda m: m.group(1).replace("max", "min").replace("MAX", "MIN") + "("),
    # Constants
    _operator("constant-one-more", EVERY, r"(?<=[ (=])([1-9]\d*)(?=[;,)\s])", lambda m: str(int(m.group(1)) + 1)),
    _operator("zero-to-one", EVERY, r"(?<== )0(?=;)", "1"),
    _operator("one-to-zero", EVERY, r"(?<=[+\- ] )1(?=[;,)\]])", "0"),
    _operator("real-doubled", (C,), r"\b(\d+\.\d+(?:e-?\d+)?)(?=[;,) ])", r"(2 * \1)"),
    _operator("size-to-one", (C,), r"\bsizeof\b ?(?:\([^()]*\)|\*?\w+)", "1"),
    # Statements
    _operator("assignment-dropped", EVERY, r"(?<=[;{}\n])(\s+)[\w.>\-\[\]*]+ [+|\-*]?= [^;={}]+;", r"\1;"),
    _operator("call-dropped", EVERY, r"(?<=[;{}\n])(\s+)kw_\w+\((?:[^();]|\([^()]*\))*\);", r"\1;"),
    _operator("break-dropped", (C,), r"\bbreak;", ";"),
    _operator("continue-dropped", EVERY, r"\bcontinue;", ";"),
    _operator("step-dropped", EVERY, r"(?<=[;{}\n])(\s+)[\w.>\-\[\]]+(?:\+\+|--);", r"\1;"),
    # Errors and resources
    _operator("refusal-forgotten", (C,), r"\breturn kw_fail\(", "return KW_OK & (int)kw_fail("),
    _operator("status-dropped", (C,), r"\breturn status;", "return KW_OK;"),
    _operator("null-passed-over", (C,), r"\bif \(!(\w+)\) \{", r"if (!\1 && 0) {"),
    _operator("memory-lost", (C,), r"(?<=[;{}\n])(\s+)(?:free|\w+_drop|\w+_close)\([^;]*\);", r"\1;"),
    _operator("sync-dropped", (C,), r"\b(?:fsync|fdatasync)\([^()]*\)", "0"),
    _operator("compare-length", (C,), r"\b(memcmp|strncmp|memcpy)\(([^;]*), ([^,;]+)\)(?=[; )])", r"\1(\2, (\3) / 2)"),
    _operator("null-returned", (C,), r"\breturn (\w+);(?=\n})", r"return (__typeof__(\1))0;"),
    # Kernels: what a GPU waits for, and what a tile touches
    _operator("barrier-dropped", (GPU,), r"\bkw_barrier\(\)", "(void)0"),
    _operator("wave-barrier-dropped", (GPU,), r"\bkw_wave_barrier\(\)", "(void)0"),
    _operator("wait-dropped", (GPU,), r"(?<=[;{}\n])(\s+)kw_(?:async_wait|wgmma_wait|mbar_wait|bulk_wait\w*)\((?:[^()]|\([^()]*\))*\);", r"\1;"),
    _operator("wait-one-too-few", (GPU,), r"\b(kw_(?:async|wgmma)_wait\()((?:[^()]|\([^()]*\))*)\)", r"\1(\2) + 1)"),
    _operator("fence-dropped", (GPU,), _CALL.format(r"kw_\w*fence"), "(void)0"),
    _operator("arrival-dropped", (GPU,), _CALL.format(r"kw_mbar_arrive\w*"), "(void)0"),
    _operator("edge-forgotten", KERNELS, r"\bkw_inside\((?:[^()]|\([^()]*\))*\)(?=[ );])", "1"),
    _operator("tail-whole", (CPU,), r"\bkw_(load|store)_tail\(", r"kw_\1_tail(-1 + "),
    _operator("sums-kept", (GPU,), _CALL.format("kw_sums_clear"), "(void)0"),
    _operator("stage-skipped", (GPU,), r"\bkw_ring_next\((?:[^()]|\([^()]*\))*\);", ";"),
    _operator("rows-for-columns", (GPU,), r"\bkw_acc_row\(", "kw_acc_col("),
    _operator("depth-one-less", KERNELS, r"\b(\w+)\.depth\b", r"(\1.depth - 1)"),
]


def bare(text):
    """The text with comments, strings and preprocessor lines blanked, each character in its place."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*', blank, text, flags=re.S | re.M)


def sites(text, kind):
    """Every (operator, match) of a text; in its bare form, so a match with a string inside is none."""
    plain = bare(text)
    for name, kinds, pattern, replacement in OPERATORS:
        if kind in kinds:
            for match in pattern.finditer(plain):
                if match.group(0) == text[match.start():match.end()]:
                    yield name, match, replacement


def mutated(text, match, replacement):
    return text[:match.start()] + (replacement(match) if callable(replacement) else match.expand(replacement)) + text[match.end():]
