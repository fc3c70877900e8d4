import { defineCounter } from '../../../platform/metrics/define.ts';

/** The event of the call is not changed then. */
export const mergeFailures = defineCounter({
  name: 'weir_writer_merge_failures_total',
  help: 'Calls whose spans could not be merged, since a text under the id of one of them is not of a span.',
});
