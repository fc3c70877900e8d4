/** A bounded world in which TLC looks at every order of steps. */
export interface Scope {
  readonly name: string;
  /** What it is for, in a few words. */
  readonly about: string;
  /** The constants that bound it, as TLA+ expressions. */
  readonly constants: Readonly<Record<string, string>>;
  /** Leaves out states that are like others: a TLA+ expression that the states to look at satisfy. */
  readonly constraint?: string;
}

/** Two requests with one event in common: a retry, and a batch that overlaps with another one. */
const overlapping = '"first" :> {"x"} @@ "second" :> {"x", "y"}';
const separate = '<<{"x"}, {"y"}, {"z"}>>';
const nothing = {
  CrashesMax: '0',
  RestoresMax: '0',
  ErasuresMax: '0',
  ExpiriesMax: '0',
  RevocationsMax: '0',
  EarlyPurgesMax: '0',
  HasReader: 'FALSE',
};
const oneStream = '{"A"}';
const twoStreams = '{"A", "B"}';
const restored = {
  ...nothing,
  Streams: oneStream,
  Carried: overlapping,
  PublishesMax: '2',
  RestoresMax: '1',
};

export const scopes = {
  queue: {
    name: 'queue',
    about: 'three publishes to two streams, two power cuts, an expiry',
    constants: {
      ...nothing,
      Streams: twoStreams,
      Carried: overlapping,
      PublishesMax: '3',
      CrashesMax: '2',
      ExpiriesMax: '1',
    },
  },
  erasure: {
    name: 'erasure',
    about: 'three publishes to two streams, an erasure, a power cut',
    constants: {
      ...nothing,
      Streams: twoStreams,
      Carried: overlapping,
      PublishesMax: '3',
      CrashesMax: '1',
      ErasuresMax: '1',
    },
  },
  restore: {
    name: 'restore',
    about: 'two publishes, an erasure, a revocation, a backup, a restore',
    constants: { ...restored, ErasuresMax: '1', RevocationsMax: '1' },
  },
  expiry: {
    name: 'expiry',
    about: 'two publishes, an erasure, an expiry, a backup, a restore',
    constants: { ...restored, ErasuresMax: '1', ExpiriesMax: '1' },
  },
  gap: {
    name: 'gap',
    about: 'two publishes, a restore from a backup that the replay window does not reach',
    constants: { ...restored, EarlyPurgesMax: '1' },
  },
  tail: {
    name: 'tail',
    about: 'three publishes, a live stream, a backup, a restore',
    constants: {
      ...nothing,
      Streams: oneStream,
      Carried: separate,
      PublishesMax: '3',
      RestoresMax: '1',
      HasReader: 'TRUE',
    },
    // The requests are alike, so their order is one of many.
    constraint: '\\A n \\in 1..Len(queue["A"]) : queue["A"][n] = n',
  },
} satisfies Record<string, Scope>;

/** What must hold in every state, by the names of Weir.tla. */
export const invariants = [
  'NothingLost',
  'NoGapWithinWindow',
  'NothingDoubled',
  'BilledOnce',
  'ErasedIsGone',
  'RevokedStays',
  'SeenOnce',
  'NothingSkipped',
] as const;
