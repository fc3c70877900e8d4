/** Every process loads this before any other module, by `node --import` (launcher/preload.mjs). */
import './driver-correction.ts';
import './fast-imports.ts';
