// A file of its own: the types of the package reach it, and with it nothing that needs a newer TypeScript than 5.0.

/** Tells that events are durable: Weir answers 202 after its fsync. */
export interface Receipt {
  eventIds: string[];
  batchId: string | undefined;
}
