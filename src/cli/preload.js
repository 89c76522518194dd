// Run by whatever Node there is, before one of TypeScript's own features is needed.
import module from 'node:module';

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `Minstrel needs Node 24 or newer; this is ${process.version}. npm ci (without --omit=dev) installs it; or get it from https://nodejs.org\n`,
  );
  process.exit(1);
}

// The next start takes half of the time, and saves the 25 MB of what strips the types. Only what is imported afterwards is cached.
module.enableCompileCache();
