import { useBrowser } from '../support/browser/use-browser.ts';
import { testAccess } from './settings/access.ts';
import { testData } from './settings/data.ts';
import { testSpace } from './settings/space.ts';
import { testUsage } from './settings/usage.ts';

/** Settings of a space. All tests share one system and one browser: each start takes seconds. */
const system = useBrowser();

testAccess(system);
testData(system);
testSpace(system);
testUsage(system);
