// A separate file: the types of the package import it, and must not import anything that needs TypeScript
// above 5.0.

/** The receipt of a batch that is durable: Weir sends a 202 after its fsync. */
export interface Receipt {
  eventIds: string[];
  batchId: string | undefined;
}
