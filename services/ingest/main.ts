import process from 'node:process';
import { runService } from '../../platform/service.ts';
import { schemaVersion } from '../../store/db/version.ts';
import { startIngest } from './ingest.ts';

await runService(process, { name: 'ingest', schema: schemaVersion }, startIngest);
