"""Every method against the real server, on both databases."""

import asyncio
import inspect
from collections.abc import Iterator

import pytest

import causeway_client as causeway
from causeway_client import AsyncCauseway, Causeway
from conftest import Server

RED_CROSS = "d9017b27-edb0-54b2-b0c1-533033c82832"


@pytest.fixture
def client(server: Server) -> Iterator[Causeway]:
    with Causeway(server.base_url, **server.keys) as client:
        yield client


def test_reads_nonprofits_by_slug_ein_and_id(client: Causeway) -> None:
    for identifier in ("american-red-cross", "530196605", RED_CROSS):
        details = client.nonprofit(identifier)
        assert details.nonprofit.name == "American Red Cross"
        assert "health" in [tag.tag_name for tag in details.nonprofit_tags]
    assert client.nonprofit(RED_CROSS, include="sources").sources
    assert client.finances(RED_CROSS).unit == "dollars"


def test_searches_with_filters_and_explains_with_a_private_key(client: Causeway) -> None:
    first = client.search("red cro").nonprofits[0]
    assert (first.slug, first.matched_terms) == ("american-red-cross", ["red", "cro"])
    assert len(client.search("the", take=3).nonprofits) == 3
    found = client.search("animal", causes=["animals", "wildlife"], disbursable=True).nonprofits
    assert found and all({"animals", "wildlife"} & set(nonprofit.tags) for nonprofit in found)
    assert client.search(" ").nonprofits == []
    # Characters that have a meaning in URLs.
    assert isinstance(client.search("50% a/b?c#d&e=f").nonprofits, list)
    explanation = client.search("amercan red cross", explain=True).explanation
    assert explanation and explanation.typos[0].read_as == "american"


def test_lists_causes_and_describes_the_directory(client: Causeway) -> None:
    assert any(cause.tag_name == "animals" and cause.nonprofits for cause in client.causes())
    assert client.directory().counts.nonprofits > 0


def test_iterates_over_all_pages_once(client: Causeway) -> None:
    animals = client.browse("animals", take=3)
    page = animals.page(2)
    assert page.pagination.page == 2
    ids = [nonprofit.id for nonprofit in animals]
    assert len(ids) == len(set(ids)) == page.pagination.total_results > 3
    assert len(list(animals.pages(2))) == page.pagination.pages - 1


def test_matches_lists_of_any_length(client: Causeway) -> None:
    rows = [{"id": str(index), "ein": "53-0196605"} for index in range(1001)]
    matched = client.match(rows, take=1)
    assert [row.id for row in matched] == [row["id"] for row in rows]
    assert matched[-1].match and matched[-1].candidates[0].slug == "american-red-cross"


def test_exports_all_nonprofits_once_and_lists_what_changed_since(client: Causeway) -> None:
    parts = list(client.export_parts(take=250))
    ids = [nonprofit["id"] for part in parts for nonprofit in part.nonprofits]
    assert len(parts) > 1
    assert len(ids) == len(set(ids)) == client.directory().counts.nonprofits
    (page,) = client.changes(parts[-1].changes_cursor)
    assert (page.changes, page.has_more) == ([], False)
    with pytest.raises(causeway.ApiError):
        next(client.changes("nonsense"))


def test_creates_reads_changes_closes_and_lists_fundraisers(client: Causeway) -> None:
    assert client.create_fundraiser(RED_CROSS, "Spring run", dry_run=True).title == "Spring run"
    created = client.create_fundraiser(RED_CROSS, "Spring run", goal=500_000)
    assert client.fundraiser("american-red-cross", created.slug).fundraiser.id == created.id
    assert client.raised(RED_CROSS, created.id).goal_amount == 500_000
    changed = client.update_fundraiser(created.id, goal=None, description="By the river")
    assert (changed.goal_amount, changed.description) == (None, "By the river")
    assert client.close_fundraiser(created.id).status == "CLOSED"
    assert client.reopen_fundraiser(created.id).status == "PUBLISHED"

    both = [RED_CROSS, "007de7ba-ef82-5f2d-b7af-9e5f7d4aadcf"]
    several = client.create_fundraiser(causeway.SEVERAL_NONPROFITS_ID, "Relief for all", for_nonprofits=both, for_nonprofit_weights=[3, 1])
    assert len(client.fundraiser(causeway.SEVERAL_NONPROFITS, several.slug).nonprofits) == 2
    assert [fundraiser.title for fundraiser in client.fundraisers(take=1)][:2] == ["Relief for all", "Spring run"]


def test_repeats_a_creation_with_the_same_key_and_refuses_another_one_with_it(client: Causeway) -> None:
    first = client.create_fundraiser(RED_CROSS, "Once", idempotency_key="order-1")
    assert client.create_fundraiser(RED_CROSS, "Once", idempotency_key="order-1").id == first.id
    with pytest.raises(causeway.IdempotencyError) as caught:
        client.create_fundraiser(RED_CROSS, "Twice", idempotency_key="order-1")
    assert (caught.value.code, caught.value.status) == ("idempotency_mismatch", 422)
    # Keys are generated for each call.
    assert client.create_fundraiser(RED_CROSS, "Once").id != first.id


def test_raises_a_class_for_each_family_of_codes(client: Causeway, server: Server) -> None:
    with pytest.raises(causeway.NotFoundError) as missing:
        client.nonprofit("53-0196605")
    assert (missing.value.code, missing.value.status) == ("nonprofit_not_found", 404)
    assert missing.value.request_id and missing.value.detail
    with pytest.raises(causeway.NotFoundError, match="unknown_cause"):
        client.browse("nonsense").page()
    with pytest.raises(causeway.InvalidRequestError) as invalid:
        client.create_fundraiser(RED_CROSS, "", goal=-1)
    assert sorted(error.field for error in invalid.value.errors) == ["goal", "title"]

    with Causeway(server.base_url, "cwpk_wrong", server.private_key) as stranger:
        with pytest.raises(causeway.AuthenticationError, match="invalid_key"):
            stranger.causes()
        with pytest.raises(causeway.AuthenticationError, match="invalid_credentials"):
            stranger.create_fundraiser(RED_CROSS, "x")
    with Causeway(server.base_url, server.public_key) as reader, pytest.raises(causeway.ConfigurationError, match="private key"):
        reader.close_fundraiser(RED_CROSS)
    with pytest.raises(causeway.ConfigurationError, match="private key"):
        Causeway(server.base_url, server.private_key)


def test_says_when_to_try_again_after_a_rate_limit(server: Server) -> None:
    limited = Causeway(server.base_url, server.create_limited_key("search=2"), max_retries=0)
    with limited, pytest.raises(causeway.RateLimitError) as caught:
        # The limit holds within a second.
        for _ in range(500):
            limited.search("red cross")
    assert caught.value.code == "rate_limited"
    assert 0 < (caught.value.retry_after or 0) <= 60


def test_does_the_same_with_asyncio(server: Server) -> None:
    async def use() -> None:
        async with AsyncCauseway(server.base_url, **server.keys) as client:
            details, results, causes, directory, finances = await asyncio.gather(
                client.nonprofit(RED_CROSS), client.search("red cro", take=2), client.causes(), client.directory(), client.finances(RED_CROSS)
            )
            assert details.nonprofit.name == results.nonprofits[0].name == "American Red Cross"
            assert causes and directory.counts.nonprofits and finances.unit
            animals = client.browse("animals", take=3)
            page = await animals.page(2)
            ids = [nonprofit.id async for nonprofit in animals]
            assert len(ids) == len(set(ids)) == page.pagination.total_results
            assert (await client.match([{"name": "American Red Cross"}]))[0].candidates
            parts = [part async for part in client.export_parts(take=250)]
            pages = [page async for page in client.changes(parts[-1].changes_cursor)]
            assert len(parts) > 1 and len(pages) == 1
            created = await client.create_fundraiser(RED_CROSS, "With asyncio", goal=1000)
            assert (await client.fundraiser(RED_CROSS, created.slug)).fundraiser.id == created.id
            assert (await client.update_fundraiser(created.id, goal=2000)).goal_amount == 2000
            assert (await client.raised(RED_CROSS, created.id)).goal_amount == 2000
            assert (await client.close_fundraiser(created.id)).status == "CLOSED"
            assert (await client.reopen_fundraiser(created.id)).status == "PUBLISHED"
            assert "With asyncio" in [fundraiser.title async for fundraiser in client.fundraisers(take=1)]
            with pytest.raises(causeway.NotFoundError):
                await client.nonprofit("no-such-nonprofit")

    asyncio.run(use())


def test_both_clients_have_the_same_methods() -> None:
    for name, method in inspect.getmembers(Causeway, inspect.isfunction):
        if not name.startswith("_"):
            other = inspect.signature(getattr(AsyncCauseway, name))
            assert list(inspect.signature(method).parameters) == list(other.parameters), name
