import { useEffect, useRef, useState } from 'react';
import type { Causeway } from './client.js';
import { SearchAsYouType, type SearchAsYouTypeOptions, type SearchState } from './search-as-you-type.js';

/**
 * Searches for the term of a text field on every render with another one: waits for a pause, cancels stale calls, and
 * never returns an older answer after a newer one. Create the client outside of components: another client starts again.
 */
export function useNonprofitSearch(client: Pick<Causeway, 'search'>, term: string, options: SearchAsYouTypeOptions = {}): SearchState {
  const search = useRef<SearchAsYouType | undefined>(undefined);
  const [state, setState] = useState<SearchState>({ term, status: 'idle', nonprofits: [], error: undefined });
  // Options are usually a new object on every render; what matters is what they say.
  const settings = JSON.stringify(options);

  useEffect(() => {
    const current = new SearchAsYouType(client, JSON.parse(settings) as SearchAsYouTypeOptions);
    search.current = current;
    const unsubscribe = current.subscribe(setState);
    return () => {
      unsubscribe();
      current.stop();
    };
  }, [client, settings]);

  useEffect(() => {
    search.current?.type(term);
  }, [client, settings, term]);

  return state;
}
