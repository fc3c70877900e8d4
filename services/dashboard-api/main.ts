import process from 'node:process';
import { runService } from '../../platform/service.ts';
import { schemaVersion } from '../../store/db/version.ts';
import { startDashboard } from './dashboard-api.ts';

await runService(process, { name: 'dashboard-api', schema: schemaVersion }, startDashboard);
