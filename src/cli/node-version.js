// Run by whatever Node there is, before one of TypeScript's own features is needed.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Minstrel needs Node 24 or newer, and this is ${process.version}. npm ci without --omit=dev brings one along; else see https://nodejs.org`,
  );
  process.exit(1);
}
