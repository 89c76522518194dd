/** Loaded before the other scripts, as `node --import` does: what Node compiled once is kept, as for `npm start`. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
