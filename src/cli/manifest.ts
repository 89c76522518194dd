/** `npm run manifest [-- --url https://bot.example --oauth --socket --threads]`: prints the Slack app manifest as JSON. */
import { commandsFor } from '../../commands/index.ts';
import { servicesIn } from '../app/config/accounts.ts';
import { type Arguments, ArgumentsError, loadEnvironment, runProgram } from '../app/process.ts';
import { FULL_OFFER, type Offer } from '../core/models/family.ts';
import { commandLine } from '../core/util/installation.ts';
import { createManifest, type ManifestOptions } from '../platforms/slack/manifest.ts';

const usage = `Usage: ${commandLine('manifest', '[options]')}
Prints the Slack app manifest as JSON, with the commands that the settings allow.
  --url https://bot.example  Slack sends requests to this URL (default: Socket Mode)
  --oauth                    let many workspaces install the app at this URL
  --socket                   use Socket Mode even with a URL
  --threads                  answer in the bot's threads without a mention`;

const OPTIONS = {
  url: { type: 'string' },
  oauth: { type: 'boolean' },
  socket: { type: 'boolean' },
  threads: { type: 'boolean' },
} as const;

/** Returns the manifest as JSON, with the commands that this offer allows. Throws ArgumentsError. */
export function manifest(options: ManifestOptions, offer: Offer): string {
  const { url, oauth } = options;
  if (url !== undefined && (!URL.canParse(url) || new URL(url).protocol !== 'https:'))
    throw new ArgumentsError(`--url must be an https:// URL that Slack can reach, not “${url}”.\n${usage}`);
  if (oauth && url === undefined)
    throw new ArgumentsError(`--oauth needs --url: workspaces install the app in a browser.\n${usage}`);
  return `${JSON.stringify(createManifest(commandsFor(offer), options), null, 2)}\n`;
}

function main({ values }: Arguments<typeof OPTIONS>): void {
  process.stdout.write(manifest(values, servicesIn(loadEnvironment()) ?? FULL_OFFER));
}

export const runManifest = (args: readonly string[]) => runProgram({ usage, options: OPTIONS }, main, args);
