import process from 'node:process';
import { runService } from '../../platform/service.ts';
import { schemaVersion } from '../../store/db/version.ts';
import { startWriter } from './writer.ts';

await runService(process, { name: 'writer', schema: schemaVersion }, startWriter);
