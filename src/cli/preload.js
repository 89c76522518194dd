// Run by whatever Node there is, before one of TypeScript's own features is needed.
import module from 'node:module';

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `Minstrel needs Node 24 or newer, and this is ${process.version}. npm ci without --omit=dev brings one along; else see https://nodejs.org\n`,
  );
  process.exit(1);
}
// What Node compiled once is kept, as for `npm start`.
module.enableCompileCache();
