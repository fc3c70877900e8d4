import process from 'node:process';
import { runService } from '../../lib/service.ts';
import { startDashboardApi } from './dashboard-api.ts';

await runService(process, 'dashboard-api', startDashboardApi);
