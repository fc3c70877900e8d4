import { useBrowser } from '../support/browser/use-browser.ts';
import { testCharts } from './journeys/charts.ts';
import { testEntry } from './journeys/entry.ts';
import { testLists } from './journeys/lists.ts';
import { testSearch } from './journeys/search.ts';
import { testViews } from './journeys/views.ts';

/**
 * What people do with the dashboard, from page to page. All tests share one system and one browser: each
 * start takes seconds.
 */
const system = useBrowser();

testEntry(system);
testSearch(system);
testLists(system);
testCharts(system);
testViews(system);
