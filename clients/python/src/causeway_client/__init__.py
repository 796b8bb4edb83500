"""A client for Causeway, a directory of nonprofits."""

from ._calls import SEVERAL_NONPROFITS, SEVERAL_NONPROFITS_ID, ExportPart
from ._generated.models import BrowseBody as BrowsePage
from ._generated.models import BrowseItem, FundraiserDetails, Pagination, SearchItem
from ._generated.models import CandidateBody as MatchCandidate
from ._generated.models import CauseBody as Cause
from ._generated.models import ChangesBody as ChangesPage
from ._generated.models import DetailsData as NonprofitDetails
from ._generated.models import DirectoryBody as Directory
from ._generated.models import DonationBody as Donation
from ._generated.models import EventBody as Event
from ._generated.models import EventsBody as EventsPage
from ._generated.models import FinancesBody as Finances
from ._generated.models import FundraiserBody as Fundraiser
from ._generated.models import FundraisersBody as FundraisersPage
from ._generated.models import MatchedRowBody as MatchedRow
from ._generated.models import NonprofitBody as Nonprofit
from ._generated.models import RaisedBody as Raised
from ._generated.models import SearchBody as SearchResults
from ._generated.models import TagBody as Tag
from ._generated.types import UNSET, Unset
from ._pages import AsyncPages, Pages
from ._transport import ResponseInfo
from ._webhooks import WebhookEvent, WebhookVerificationError, verify_webhook
from .async_client import AsyncCauseway
from .client import Causeway
from .errors import (
    ApiError,
    AuthenticationError,
    CausewayError,
    ConfigurationError,
    ConnectionError,
    FieldError,
    IdempotencyError,
    InvalidRequestError,
    InvalidResponseError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    TimeoutError,
)
from .search_as_you_type import AsyncSearchAsYouType, SearchAsYouType, SearchState

__all__ = [
    "SEVERAL_NONPROFITS",
    "SEVERAL_NONPROFITS_ID",
    "UNSET",
    "ApiError",
    "AsyncCauseway",
    "AsyncPages",
    "AsyncSearchAsYouType",
    "AuthenticationError",
    "BrowseItem",
    "BrowsePage",
    "Cause",
    "Causeway",
    "CausewayError",
    "ChangesPage",
    "ConfigurationError",
    "ConnectionError",
    "Directory",
    "Donation",
    "Event",
    "EventsPage",
    "ExportPart",
    "FieldError",
    "Finances",
    "Fundraiser",
    "FundraiserDetails",
    "FundraisersPage",
    "IdempotencyError",
    "InvalidRequestError",
    "InvalidResponseError",
    "MatchCandidate",
    "MatchedRow",
    "Nonprofit",
    "NonprofitDetails",
    "NotFoundError",
    "Pages",
    "Pagination",
    "PermissionDeniedError",
    "Raised",
    "RateLimitError",
    "ResponseInfo",
    "SearchAsYouType",
    "SearchItem",
    "SearchResults",
    "SearchState",
    "ServerError",
    "Tag",
    "TimeoutError",
    "Unset",
    "WebhookEvent",
    "WebhookVerificationError",
    "verify_webhook",
]
