/** What a response with a page has besides its items. */
export interface Pagination {
  page: number;
  pages: number;
  page_size: number;
  total_results: number;
}

/**
 * A list in pages. Await it for one page, iterate over it for all items from that page on, or over `pages()` for whole
 * pages. Requests are made when they are needed.
 */
export class Pages<Item, Page extends { pagination: Pagination }> implements PromiseLike<Page>, AsyncIterable<Item> {
  readonly #first: number;
  readonly #fetchPage: (page: number) => Promise<Page>;
  readonly #items: (page: Page) => Item[];

  constructor(first: number, fetchPage: (page: number) => Promise<Page>, items: (page: Page) => Item[]) {
    this.#first = first;
    this.#fetchPage = fetchPage;
    this.#items = items;
  }

  then<Result = Page, Failure = never>(
    fulfilled?: ((page: Page) => Result | PromiseLike<Result>) | null,
    rejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#fetchPage(this.#first).then(fulfilled, rejected);
  }

  async *pages(): AsyncGenerator<Page, void, undefined> {
    for (let number = this.#first; ; number++) {
      const page = await this.#fetchPage(number);
      if (this.#items(page).length > 0) yield page;
      if (number >= page.pagination.pages) return;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* this.#items(page);
  }
}
