export * from './client.js';
export * from './errors.js';
export { Pages, type Pagination } from './pages.js';
export * from './search-as-you-type.js';
export type { ResponseInfo, ResponseListener, RetryOptions } from './transport.js';
export * from './webhooks.js';
export type {
  BrowseBody as BrowsePage,
  BrowseItem,
  CandidateBody as MatchCandidate,
  CauseBody as Cause,
  DetailsData as NonprofitDetails,
  DirectoryBody as Directory,
  DonationBody as Donation,
  FinancesBody as Finances,
  FundraiserBody as Fundraiser,
  FundraiserChangeInput,
  FundraiserDetails,
  FundraiserInput,
  FundraisersBody as FundraisersPage,
  MatchedRowBody as MatchedRow,
  MatchRowInput as MatchRow,
  NonprofitBody as Nonprofit,
  RaisedBody as Raised,
  SearchBody as SearchResults,
  SearchItem,
  TagBody as Tag,
} from './generated/types.gen.js';
