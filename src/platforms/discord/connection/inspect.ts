/** Checks the Discord settings for operators. */
import { isDeepStrictEqual } from 'node:util';
import { ApplicationFlags, PermissionsBitField, Routes } from 'discord.js';
import { z } from 'zod';
import type { AnyCommand } from '../../../core/bot/command.ts';
import { type Finding, good, warning, wrong } from '../../../core/finding.ts';
import { commandLine } from '../../../core/util/installation.ts';
import { isUnauthorized, platformErrorOf } from '../errors.ts';
import { INVITED, joinNames, missingInServer } from '../permissions.ts';
import { applicationCommands } from './commands.ts';
import { type DiscordAccount, type DiscordRest, openRest } from './rest.ts';

const SUBJECT = 'Discord';
export const PORTAL = 'https://discord.com/developers/applications';

/** Returns the address for adding the bot to a server: https://docs.discord.com/developers/topics/oauth2#bot-authorization-flow */
export function invitationUrl(application: string): string {
  const query = new URLSearchParams({
    client_id: application,
    scope: 'bot applications.commands',
    permissions: String(INVITED),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}

export interface DiscordInspection extends DiscordAccount {
  readonly shards?: { readonly ids: readonly number[]; readonly total: number };
  readonly messageContent: boolean;
}

export const applicationSchema = z.object({
  id: z.string(),
  name: z.string(),
  flags: z.number().catch(0),
  interactions_endpoint_url: z.string().nullish(),
});
type Application = z.infer<typeof applicationSchema>;

const commandsSchema = z.array(z.object({ name: z.string() }));

const gatewaySchema = z.object({
  shards: z.number(),
  session_start_limit: z.object({ total: z.number(), remaining: z.number(), reset_after: z.number() }),
});

export const guildsSchema = z.array(
  z.object({ name: z.string(), permissions: z.string().regex(/^\d+$/).transform(BigInt) }),
);

/** Sends only read requests. Without `commands`, registration is not checked. Discord and network errors become findings. */
export async function inspectDiscord(
  settings: DiscordInspection,
  commands: readonly AnyCommand[] | undefined,
): Promise<Finding[]> {
  const rest = openRest(settings);
  try {
    const application = applicationSchema.parse(await rest.read(Routes.currentApplication()));
    return [
      good(SUBJECT, `the token belongs to the application “${application.name}” (${application.id})`),
      good(SUBJECT, `invitation: ${invitationUrl(application.id)}`),
      ...intents(application, settings),
      ...interactions(application),
      ...(commands === undefined ? [] : [await registration(rest, application, commands)]),
      ...(await sessions(rest, settings)),
      ...(await servers(rest, application)),
    ];
  } catch (error) {
    return [failureOf(error)];
  }
}

function failureOf(error: unknown): Finding {
  if (isUnauthorized(error))
    return wrong(
      SUBJECT,
      'Discord rejected the token',
      `press “Reset Token” on your application's Bot page at ${PORTAL}, then set DISCORD_TOKEN`,
    );
  const known = platformErrorOf(error);
  const reason = known instanceof Error ? known.message : String(known);
  return wrong(
    SUBJECT,
    reason,
    'check that this machine can reach discord.com, and check DISCORD_API_URL if it is set',
  );
}

/** Whether the privileged intent is on. */
export const hasMessageContent = ({ flags }: Application): boolean =>
  (flags & (ApplicationFlags.GatewayMessageContent | ApplicationFlags.GatewayMessageContentLimited)) !== 0;

function intents(application: Application, { messageContent }: DiscordInspection): Finding[] {
  if (!messageContent) return [];
  return [
    hasMessageContent(application)
      ? good(SUBJECT, 'the Message Content Intent is on, as DISCORD_MESSAGE_CONTENT requires')
      : wrong(
          SUBJECT,
          'DISCORD_MESSAGE_CONTENT is 1, but the Message Content Intent is off: Discord would close the connection',
          `turn on “Message Content Intent” at ${PORTAL}/${application.id}/bot, or remove DISCORD_MESSAGE_CONTENT`,
        ),
  ];
}

function interactions({ interactions_endpoint_url: endpoint }: Application): Finding[] {
  if (!endpoint) return [];
  return [
    wrong(
      SUBJECT,
      `the application sends its interactions to ${endpoint}, so this bot would receive no commands`,
      `clear “Interactions Endpoint URL” on the General Information page at ${PORTAL}`,
    ),
  ];
}

async function registration(
  rest: DiscordRest,
  { id }: Application,
  commands: readonly AnyCommand[],
): Promise<Finding> {
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).toSorted();
  const registered = names(commandsSchema.parse(await rest.commands(id)));
  return isDeepStrictEqual(registered, names(applicationCommands(commands)))
    ? good(SUBJECT, `all ${commands.length} commands are registered`)
    : warning(
        SUBJECT,
        'the commands registered with Discord do not match this version',
        `${commandLine('register')} registers them now; ${commandLine('start')} registers them after an update`,
      );
}

async function sessions(rest: DiscordRest, { shards }: DiscordInspection): Promise<Finding[]> {
  const { shards: recommended, session_start_limit: limit } = gatewaySchema.parse(
    await rest.read(Routes.gatewayBot()),
  );
  const findings: Finding[] = [];
  if (limit.remaining < 10)
    findings.push(
      warning(
        SUBJECT,
        `${limit.remaining} of today's ${limit.total} connections are left`,
        `find out why the bot keeps reconnecting; the count resets in ${Math.ceil(limit.reset_after / 60_000)} min`,
      ),
    );
  if (shards !== undefined && shards.total < recommended)
    findings.push(
      warning(
        SUBJECT,
        `DISCORD_SHARDS sets ${shards.total} shards, but Discord recommends ${recommended}`,
        'raise the number on all replicas and restart them together',
      ),
    );
  return findings;
}

/** Reads one page: Discord lists up to 200 servers, enough to find missing permissions. */
async function servers(rest: DiscordRest, { id }: Application): Promise<Finding[]> {
  const guilds = guildsSchema.parse(await rest.read(Routes.userGuilds()));
  if (guilds.length === 0)
    return [warning(SUBJECT, "the bot isn't in any server yet", `open ${invitationUrl(id)} and choose one`)];
  const count = guilds.length === 200 ? '200 or more servers' : `${guilds.length} server(s)`;
  const names = guilds.slice(0, 5).map(({ name }) => `“${name}”`);
  const more = guilds.length > names.length ? ', …' : '';
  return [
    good(SUBJECT, `the bot is in ${count}: ${names.join(', ')}${more}`),
    ...guilds.flatMap(({ name, permissions }) => {
      const missing = missingInServer(new PermissionsBitField(permissions));
      return missing.length === 0
        ? []
        : [
            warning(
              SUBJECT,
              `the bot is missing permissions in “${name}”: ${joinNames(missing)}`,
              'grant them to its role there, or invite it again with the link above',
            ),
          ];
    }),
  ];
}
