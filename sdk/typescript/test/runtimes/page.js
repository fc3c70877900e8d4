// For browsers: the page calls these.
import { Weir } from '../../dist/index.js';
import { runScenario } from './scenario.js';

Object.assign(globalThis, {
  runScenario: (options) => runScenario({ Weir, ...options }),
  /** Records events that only the end of the page can deliver. */
  recordAtEnd(weirUrl, count) {
    const weir = new Weir({ url: weirUrl, apiKey: 'key' });
    for (let i = 0; i < count; i++) {
      weir.record({ type: 'tool', properties: { tool: { name: 'last', input: 'x'.repeat(1_000) } } });
    }
  },
});
