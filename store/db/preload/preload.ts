/**
 * What every process loads before any other module: `node --import ./store/db/preload/preload.ts`.
 * `launcher/preload.mjs` has the option for processes that are started.
 */
import './driver-correction.ts';
import './fast-imports.ts';
