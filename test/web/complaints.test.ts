import { useBrowser } from '../support/browser/use-browser.ts';
import { testClicks } from './complaints/clicks.ts';
import { testCompare } from './complaints/compare.ts';
import { testHostileTexts } from './complaints/hostile-texts.ts';
import { testLists } from './complaints/lists.ts';
import { testLongLists } from './complaints/long-lists.ts';
import { testPayloads } from './complaints/payloads.ts';
import { testReadings } from './complaints/readings.ts';

/**
 * Common complaints of users of other dashboards. All tests share one system and one browser: each start
 * takes seconds.
 */
const system = useBrowser();

testPayloads(system);
testLists(system);
testLongLists(system);
testClicks(system);
testReadings(system);
testCompare(system);
testHostileTexts(system);
