// Run by whatever Node there is, before one of TypeScript's own features is needed.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `Minstrel needs Node 24 or newer, and this is ${process.version}. npm ci without --omit=dev brings one along; else see https://nodejs.org\n`,
  );
  process.exit(1);
}
