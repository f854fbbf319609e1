"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def no_other_plugins(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this project's own tests would only be loaded anew in each process."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.plugins.append("markscheme.integrations.pytest_plugin")


ANSWERS = """
import pytest

@pytest.mark.parametrize("number", range(20))
def test_answer(assert_answer, number):
    said = "in Paris" if number < 17 else "in Rome"
    question = f"Where does it stand ({number})?"
    assert_answer(said, question=question, references="in Paris", judge="exact_match")
"""


def test_a_wrong_answer_fails_its_test_with_a_reason(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ANSWERS)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=17, failed=3)
    done.stdout.fnmatch_lines(
        ["*exact_match rejects 'in Rome' as an answer to*expected 'in Paris'*"]
    )


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--markscheme-fail-under", "0.8"], 0, "*passed: exact_match, all: accepted 85.0*"),
        (["--markscheme-fail-under", "0.9"], 1, "*FAILED: exact_match, all: accepted 85.0*"),
        (
            ["--markscheme-fail-under", "0.8", "--markscheme-confidence", "0.95"],
            1,
            "*at least 6*\n*this bound is for further questions like these*"
            "according to exact_match*",
        ),
    ],
)
def test_a_suite_is_held_against_a_limit(
    pytester: pytest.Pytester, options: list[str], code: int, told: str
) -> None:
    pytester.makepyfile(ANSWERS)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)
    done.assert_outcomes(passed=20)
    assert done.ret == code
    done.stdout.fnmatch_lines(told.splitlines())


def test_what_cannot_be_judged_always_fails_its_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_no_pattern(assert_answer):
            assert_answer("in Paris", question="Where?", references=["("], judge="regex")

        def test_silence(assert_answer):
            assert_answer(None, question="Where?", references=["in Paris"])
        """
    )
    done = pytester.runpytest_subprocess("--markscheme-fail-under", "0.0")
    done.assert_outcomes(failed=1, passed=1)
    done.stdout.fnmatch_lines(["*could not judge 'in Paris': failed*"])
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["*rejects None*"])


def test_nothing_heavy_is_loaded_for_suites_that_do_not_ask(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test_light():\n    assert 'polars' not in sys.modules\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.proof(area="harnesses")
@pytest.mark.parametrize(
    ("limit", "code", "told"),
    [("0.8", 0, "*passed: exact_match, all: accepted 85.0*"), ("0.9", 1, "*FAILED*accepted 85.0*")],
)
def test_workers_of_xdist_share_one_limit(
    pytester: pytest.Pytester, limit: str, code: int, told: str
) -> None:
    pytester.makepyfile(ANSWERS)
    done = pytester.runpytest_subprocess("-p", "xdist", "-n", "2", "--markscheme-fail-under", limit)
    done.assert_outcomes(passed=20)
    assert done.ret == code
    done.stdout.fnmatch_lines([told])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--markscheme-fail-under", "80"], "*a share from 0 to 1, such as 0.8, not 80"),
        (["--markscheme-fail-under", "0.8", "--markscheme-confidence", "95"], "*0.9999, not 95"),
        (["--markscheme-confidence", "0.95"], "*requires --markscheme-fail-under*"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused_before_any_test(
    pytester: pytest.Pytester, options: list[str], told: str
) -> None:
    pytester.makepyfile(ANSWERS)
    done = pytester.runpytest_subprocess(*options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([told])


def test_a_limit_with_nothing_to_hold_to_it_says_so(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_other():\n    pass\n")
    done = pytester.runpytest_subprocess("--markscheme-fail-under", "0.8")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["no answer was judged, so none is held to 80"])


def test_what_is_wrong_with_a_call_is_said_in_a_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_judge(assert_answer):
            assert_answer("8", question="Legs?", references="8", judge="exmaminer")

        def test_references(assert_answer):
            assert_answer("8", question="Legs?", references=None)

        def test_number(assert_answer):
            assert_answer(8, question="Legs?", references=8)
        """
    )
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(failed=2, passed=1)
    done.stdout.fnmatch_lines(["no judge named 'exmaminer'*", "*no references*"])
    done.stdout.no_fnmatch_line("*grammar.py*")


def test_a_limit_that_is_not_reached_names_the_first_culprits(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ANSWERS)
    done = pytester.runpytest_subprocess("--markscheme-fail-under", "0.9")
    done.stdout.fnmatch_lines(
        ["rejected: 'in Rome' for 'in Paris' to 'Where does it stand (17)?'*test_answer[[]17]]"]
    )
