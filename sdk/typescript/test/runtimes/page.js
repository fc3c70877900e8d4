// The functions that the test page calls in a browser.
import { Weir } from '../../dist/index.js';
import { runScenario } from './scenario.js';

Object.assign(globalThis, {
  runScenario: (options) => runScenario({ Weir, ...options }),
  /** Records events that are delivered when the page closes. */
  recordAtEnd(weirUrl, count) {
    const weir = new Weir({ url: weirUrl, apiKey: 'key' });
    for (let i = 0; i < count; i++) {
      weir.record({ type: 'tool', properties: { tool: { name: 'last', input: 'x'.repeat(1_000) } } });
    }
  },
});
