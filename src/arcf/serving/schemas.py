"""What the API takes and gives, as pydantic models: OpenAPI is written from them."""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from arcf.serving.examples import ASKED, BEST, EXPLAINED, NEXT

MOST_OPTIONS = 26
MOST_EXCLUDED = 1_000

Item = TypeVar("Item", bound=BaseModel)


def _unicode(text: str) -> str:
    """JSON can write halves of characters, which no answer could repeat."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("is not Unicode text") from error
    return text


def _no_boolean(value: Any) -> Any:
    """To Python, true is 1; to JSON it is no number."""
    if isinstance(value, bool):
        raise ValueError("is a boolean, not a number")
    return value


Text = Annotated[str, AfterValidator(_unicode)]
Integer = Annotated[int, BeforeValidator(_no_boolean)]
Number = Annotated[float, BeforeValidator(_no_boolean)]
Uid = Annotated[str, Field(min_length=1)]


class Request(BaseModel):
    """Unknown names are mistakes, not wishes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SearchSettings(Request):
    """How the chain is searched for; what is left out is as the server has it."""

    k: Integer | None = Field(
        default=None, ge=1, description="Facts visible from the question and from each chosen fact."
    )
    max_facts: Integer | None = Field(default=None, ge=1, description="L: facts of a chain at most.")
    min_facts: Integer | None = Field(default=None, ge=0, le=1_000, description="Facts of a chain at least.")
    min_confidence: Number | None = Field(
        default=None,
        ge=0,
        le=1,
        description="The chain ends before a fact that is less likely to belong, if the model is calibrated; 0: never.",
    )
    runners_up: Integer | None = Field(
        default=None, ge=0, le=50, description="Facts that a step remembers besides its own."
    )
    exact: StrictBool | None = Field(default=None, description="Score every visible fact in every iteration.")


class AskRequest(Request):
    """A question of your own, with its answer and options; or the id of a question of the dataset."""

    question: Text | None = Field(default=None, description="Without its options.")
    answer: Text = Field(
        default="", description="The right answer; with options, the text or the letter of one of them."
    )
    options: list[Text] = Field(default_factory=list, max_length=MOST_OPTIONS)
    id: Uid | None = Field(default=None, description="A question of the dataset, instead of the three above.")
    settings: SearchSettings = SearchSettings()


class ExplainRequest(AskRequest):
    """What is to be explained, and the facts that the chain begins with or must not use."""

    start: list[Uid] = Field(default_factory=list, description="Uids of the facts that the chain begins with.")
    excluded: list[Uid] = Field(default_factory=list, max_length=MOST_EXCLUDED, description="Uids never used.")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "Which process turned the ice cube to water?", "answer": "melting"},
                {"id": "science-001", "settings": {"max_facts": 5}, "excluded": ["kindof-001"]},
            ]
        }
    )


class RankRequest(AskRequest):
    """What the facts are to be ranked for."""

    top_k: Integer = Field(default=10, ge=1, description="How many facts, from the best on.")

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "science-001", "top_k": 5}]})


class PageRequest(Request):
    """A page of a list, of what a query finds in it."""

    query: str = Field(default="", description="Words to look for; empty: everything.", examples=["ice"])
    page: int = Field(default=1, ge=1, le=1_000_000, description="From 1 on.")
    size: int = Field(default=20, ge=1, description="Items of a page.")


class NearRequest(Request):
    """What is near a fact."""

    k: int = Field(default=10, ge=0, description="How many neighbors.")


class FactView(BaseModel):
    """A fact of the corpus."""

    uid: str = Field(examples=["kindof-001"])
    text: str = Field(examples=["ice is a kind of solid"])


class ScoredFact(FactView):
    """A fact with its score: of the chain that it would extend, or of the ranking."""

    score: float = Field(examples=[3.25])


class Sight(BaseModel):
    """Why a fact is visible."""

    source: str | None = Field(description="The uid of a fact before it in the chain; null: the question.")
    words: list[str] = Field(
        description="What the two share, in the fact's own words, the rarest first.", examples=[["solid"]]
    )
    light: list[str] = Field(
        default_factory=list, description="Shared words that say nothing of a subject.", examples=[["kind"]]
    )


class Link(FactView):
    """A fact of the chain. A `given` one was not chosen: it has no score and no runners-up."""

    given: bool = False
    score: float | None = None
    confidence: float | None = Field(
        default=None, description="The probability that it belongs to the explanation; null: not calibrated."
    )
    seen_from: list[Sight] = Field(default_factory=list)
    runners_up: list[ScoredFact] = Field(default_factory=list)
    stop_score: float | None = Field(
        default=None, description="Of the chain before this fact; null: it could not stop yet."
    )


class QuestionView(BaseModel):
    """A question, with its gold facts where the dataset has them."""

    id: str | None = None
    question: str = Field(examples=["Which process turned the ice cube to water?"])
    answer: str = Field(examples=["melting"])
    options: list[str] = Field(default_factory=list, examples=[["freezing", "melting"]])
    gold: list[str] = Field(default_factory=list, description="Uids.", examples=[["kindof-001"]])


class Opening(QuestionView):
    """How a stream begins: the question, the facts that the chain begins with, and the most it may have."""

    given: list[Link] = Field(default_factory=list)
    max_facts: int


class ExplanationView(QuestionView):
    """A chain, and why it ends where it does."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXPLAINED]})

    facts: list[Link]
    confidence: float | None = Field(
        description="The share of the chosen facts that can be expected to belong to the explanation."
    )
    stopped: bool = Field(description="Whether stopping scored best.")
    unsure: bool = Field(
        description="Whether the next fact was too doubtful. If neither: the longest length, or nothing visible."
    )
    next_confidence: float | None = Field(description="The probability that the first fact left out belongs to it.")
    stop_score: float | None
    left_out: list[ScoredFact] = Field(description="The facts that would have come next, best first.")
    ending: str = Field(examples=["stopped after 3 facts: stopping scores 1.20, the next fact scores 0.40"])
    average_precision: float | None = Field(description="Of the ranking of all facts; null without gold.")
    considered: int
    scorings: int
    seconds: float


class RankingView(QuestionView):
    """The best facts of a ranking."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [ASKED | {"facts": [BEST, NEXT], "average_precision": 0.75}]}
    )

    facts: list[ScoredFact]
    average_precision: float | None


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    total: int
    page: int
    pages: int


class FactDetail(FactView):
    """A fact and what is near it."""

    table: str
    neighbors: list["Neighbor"]


class Neighbor(FactView):
    """A fact near another one, with the words that they share."""

    words: list[str]


class DatasetQuestion(QuestionView):
    """A question of the dataset."""

    split: str
    difficulty: str


class Health(BaseModel):
    """Whether the server answers, and how much it has to do."""

    status: str = Field(examples=["ok"])
    running: int
    waiting: int


class Info(BaseModel):
    """What the server runs on."""

    versions: dict[str, str]
    model: str
    corpus: str
    facts: int
    questions: int
    settings: dict[str, Any] = Field(description="How chains are searched for unless a request says otherwise.")
    limits: dict[str, int | float]
