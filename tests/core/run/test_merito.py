"""`merito` in the loop: what its drafts are told, what is mended by rule, which step is not wasted."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.feedback.verdict import Status
from core.memory.entry import Polarity
from core.question import Question
from core.repair.history import History
from core.repair.strategy import STRATEGIES
from core.run.events import (
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    MemoriesRetrieved,
    PromptSent,
    SqlExecuted,
)
from tests.core.run.stage import (
    BROKEN,
    RIGHT,
    WRONG,
    all_of,
    of,
    played,
    staged,
    wrapped,
)
from tests.scripted import ScriptedModel


async def test_an_answer_that_was_right_at_once_is_an_example_where_examples_are_shown(
    tmp_path: Path,
) -> None:
    events = await played(tmp_path, [RIGHT, WRONG, BROKEN, RIGHT], 2, strategy="merito")
    first, second = of(EpisodeEnded, events)
    example = first.memory
    assert first.outcome is EpisodeOutcome.RIGHT_AT_ONCE
    assert (example.polarity, example.context.failed_sql) == (Polarity.EXAMPLE, "")
    assert example.revised_sql == RIGHT
    assert example.confirmed
    draft = of(PromptSent, events)[-1].messages[0].content
    assert f"- {example.context.question}\n  {RIGHT}" in draft
    assert second.memory.polarity is Polarity.POSITIVE


async def test_drafts_are_told_in_turn_what_the_strategy_says(tmp_path: Path) -> None:
    wrong = [f"SELECT id, {number} FROM boat" for number in range(5)]
    events = await played(tmp_path, [RIGHT, *wrong], 2, strategy="merito", budget=4)
    prompts = [event for event in of(PromptSent, events) if event.attempt > 0]
    told = [
        ("Some values" in text, "Other questions" in text)
        for text in (prompt.messages[0].content for prompt in prompts)
    ]
    drafts = STRATEGIES["merito"].drafts
    assert told == [(draft.values, draft.examples) for draft in drafts]
    assert [prompt.sampling.temperature == 0 for prompt in prompts] == [each.greedy for each in drafts]
    recalled = {event.attempt for event in of(MemoriesRetrieved, events)}
    assert recalled == {
        number for number, each in enumerate(drafts, 1) if each.examples or each.lessons
    }


async def test_an_example_stays_on_its_database_and_a_shown_one_is_no_lesson_too(
    tmp_path: Path,
) -> None:
    answers = [WRONG, RIGHT, WRONG, RIGHT]
    events = await played(tmp_path, answers, 2, strategy="merito-one-view")
    recalled = of(MemoriesRetrieved, events)[-1]
    assert [channel.taken for channel in recalled.retrieval.channels] == [1, 0, 1]
    draft = of(PromptSent, events)[-1].messages[0].content
    assert draft.count(recalled.entries[0].context.question) == 1


async def test_merito_does_not_put_the_same_rows_before_the_judge_again(tmp_path: Path) -> None:
    same_rows = "SELECT crew AS c FROM boat WHERE 1"
    events = await played(tmp_path, [WRONG, same_rows, RIGHT], strategy="merito")
    judged = of(AttemptJudged, events)
    assert judged[1].refused == "returns the same rows as attempt 0"
    assert judged[1].status is Status.DENOTATION_MISMATCH
    assert judged[2].status is Status.CORRECT


async def test_merito_puts_hints_and_not_the_failed_sql_into_its_drafts(tmp_path: Path) -> None:
    events = await played(tmp_path, ["SELECT fsh FROM trip", RIGHT], strategy="merito")
    first, draft = of(PromptSent, events)
    assert not first.hints
    assert any("fish" in hint.text for hint in draft.hints)
    sent = draft.messages[0].content
    assert all(hint.text in sent for hint in draft.hints)
    assert "fsh FROM" not in sent
    assert "boat.name: 'Alba', 'Brisa', 'Coral'" in sent
    assert "for example" not in first.messages[0].content


async def test_meritos_first_draft_is_greedy_and_later_ones_are_sampled(tmp_path: Path) -> None:
    events = await played(tmp_path, [WRONG, BROKEN, RIGHT], strategy="merito")
    assert [sent.sampling.temperature for sent in of(PromptSent, events)] == [0.0, 0.0, 0.8]


async def test_the_most_likely_draft_of_a_prompt_is_asked_for_once(tmp_path: Path) -> None:
    wrong = [f"SELECT id, {number} FROM boat" for number in range(6)]
    events = await played(tmp_path, wrong, strategy="merito", budget=5)
    first, fifth = [sent for sent in of(PromptSent, events) if sent.attempt in (1, 5)]
    assert first.messages == fifth.messages
    assert (first.sampling.temperature, fifth.sampling.temperature) == (0.0, 0.8)


async def test_a_failed_query_is_mended_by_rule_before_the_model_is_asked_again(tmp_path: Path) -> None:
    misspelt = RIGHT.replace("boat", "boats")
    events = await played(tmp_path, [misspelt], strategy="merito")
    (sent,) = of(PromptSent, events)
    assert sent.attempt == 0
    first, second = of(AttemptJudged, events)
    assert (first.status, second.status) == (Status.EXECUTION_ERROR, Status.CORRECT)
    (ran,) = [event for event in of(SqlExecuted, events) if event.attempt == 1]
    assert ran.mended == "boats is no table: boat is."
    (ended,) = of(EpisodeEnded, events)
    assert (ended.outcome, ended.attempts) == (EpisodeOutcome.REPAIRED, 1)
    assert ended.memory.polarity is Polarity.POSITIVE


async def test_a_mend_cut_off_before_its_judgement_is_no_repair_yet(tmp_path: Path) -> None:
    misspelt = WRONG.replace("boat", "boats")
    events = await played(tmp_path, [misspelt, RIGHT], strategy="merito")
    (question,) = [each.question for each in of(EpisodeStarted, events)]
    mend = next(n for n, event in enumerate(events) if isinstance(event, SqlExecuted) and event.mended)
    cut = History(0, question, events[: mend + 1])
    assert (cut.repairs, cut.drafts) == (0, 0)
    again = msgspec.structs.replace(events[mend], mended="")
    redone = History(0, question, [*events[: mend + 1], again, events[mend + 1]])
    assert isinstance(events[mend + 1], AttemptJudged)
    assert (redone.repairs, redone.drafts) == (1, 1), "the model made it in the end"


async def test_hints_of_what_was_tried_before_a_mend_reach_the_next_draft(tmp_path: Path) -> None:
    misspelt = WRONG.replace("boat", "boats")
    events = await played(tmp_path, [misspelt, RIGHT], strategy="merito")
    draft = of(PromptSent, events)[-1]
    assert draft.attempt == 2, "the mend was the first repair"
    assert "There is no table boats" in draft.messages[0].content


async def test_the_questions_words_are_looked_up_though_the_first_answer_held_no_sql(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(["I cannot say.", wrapped(WRONG), wrapped(RIGHT)])
    asked = Question(id="q", database="harbour", text="How large is the crew of coral?")
    async with staged(tmp_path, model, (asked,), strategy="merito", golds={"q": RIGHT}) as run:
        prompts = of(PromptSent, await all_of(run))
    assert "“coral” of the question" in prompts[-1].messages[0].content


def test_what_shows_no_examples_recalls_none() -> None:
    for name in ("merito-no-fresh", "merito-no-examples", "merito-no-memory"):
        row = STRATEGIES[name]
        policies = [row.recalls(number) for number in range(1, 9)]
        assert not any(policy and policy.examples for policy in policies), name
