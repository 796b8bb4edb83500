import type { SearchBody, SearchItem } from './generated/types.gen.js';

export interface SearchFilters {
  /** The number of results: 10 by default, at most 50. */
  take?: number;
  /** Results have at least one of these causes. */
  causes?: readonly string[];
  /** The two-letter code of a state. */
  state?: string;
  /** The name of a city. */
  city?: string;
  /** A ZIP code, or latitude and longitude in degrees. */
  near?: string;
  /** How far from `near`, in miles. */
  radius?: number;
  /** Only nonprofits that can receive donations. */
  disbursable?: boolean;
}

/** The part of `Causeway` that is used here. Declared again, because the client imports this file. */
interface SearchClient {
  search(term: string, options: SearchFilters & { signal: AbortSignal }): Promise<SearchBody>;
}

export interface SearchAsYouTypeOptions extends SearchFilters {
  /** How long to wait for the next keystroke, in milliseconds: 100 by default. */
  debounce?: number;
  /** The length of the shortest term to search for: 1 by default. */
  minLength?: number;
}

export interface SearchState {
  /** What was typed last. */
  readonly term: string;
  /** `loading` while the results are those of an earlier term. */
  readonly status: 'idle' | 'loading' | 'ready' | 'error';
  /** The newest results that have arrived. */
  readonly nonprofits: readonly SearchItem[];
  /** Why the search for `term` failed. The results stay. */
  readonly error: unknown;
}

const IDLE: SearchState = { term: '', status: 'idle', nonprofits: [], error: undefined };

/**
 * A search box without its looks. Every call of `type` cancels the search before it, so an answer that arrives late is
 * never shown, and results stay until newer ones replace them.
 */
export class SearchAsYouType {
  readonly #client: SearchClient;
  #options: SearchAsYouTypeOptions;
  #state = IDLE;
  #listeners = new Set<(state: SearchState) => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #current: AbortController | undefined;

  constructor(client: SearchClient, options: SearchAsYouTypeOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  get state(): SearchState {
    return this.#state;
  }

  /** Calls the function after every change of the state. Returns a function that stops this. */
  subscribe(listener: (state: SearchState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Searches for what is typed now, unless more is typed within the debounce time. */
  type(term: string): void {
    this.#search(term, this.#options.debounce ?? 100);
  }

  /** Searches with other filters, without waiting. */
  filter(filters: SearchAsYouTypeOptions): void {
    this.#options = { ...this.#options, ...filters };
    this.#search(this.#state.term, 0);
  }

  /** Forgets term and results. */
  clear(): void {
    this.#search('', 0);
  }

  /** Cancels what is in progress. The state does not change any more until something is typed. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#current?.abort();
    this.#current = undefined;
  }

  #search(term: string, delay: number): void {
    this.stop();
    if (term.trim().length < Math.max(1, this.#options.minLength ?? 1)) {
      return this.#set({ ...IDLE, term });
    }
    this.#set({ ...this.#state, term, status: 'loading', error: undefined });
    const controller = new AbortController();
    this.#current = controller;
    this.#timer = setTimeout(() => void this.#run(term, controller), delay);
  }

  async #run(term: string, controller: AbortController): Promise<void> {
    const { debounce, minLength, ...filters } = this.#options;
    try {
      const { nonprofits } = await this.#client.search(term, { ...filters, signal: controller.signal });
      if (controller === this.#current) this.#set({ term, status: 'ready', nonprofits, error: undefined });
    } catch (error) {
      if (controller === this.#current) this.#set({ ...this.#state, status: 'error', error });
    }
  }

  #set(state: SearchState): void {
    this.#state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }
}
