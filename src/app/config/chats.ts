/** The settings of Discord and Slack, with their texts: a part of the schema. */
import * as field from './fields.ts';

export const chatSettings = {
  DISCORD_TOKEN: field.discordToken.optional().meta({
    description: 'The bot token from the Developer Portal; it switches Discord on. Secret.',
    otherwise: 'off',
  }),
  DISCORD_API_URL: field.baseUrl.optional().meta({
    description: "Another base for Discord's API, for proxies and tests.",
    example: 'https://discord.com/api',
    otherwise: "Discord's own",
  }),
  DISCORD_SHARDS: field.shards.optional().meta({
    description:
      'The shards of this replica, of how many in all. Without it, one process serves every server, and other replicas on one Redis stand by.',
    example: '0-3/16',
    otherwise: 'all',
  }),
  DISCORD_MESSAGE_CONTENT: field.flag
    .prefault('0')
    .describe(
      'Set to 1 when the message content intent is switched on in the Developer Portal: in threads that the bot opened, and in channels that moderators choose with talk in /models answers, people then need not mention it.',
    ),

  SLACK_BOT_TOKEN: field.slackToken('xoxb-', 'OAuth & Permissions').optional().meta({
    description: 'The bot token (xoxb-…) of your app; it switches Slack on. Secret.',
    otherwise: 'off',
  }),
  SLACK_APP_TOKEN: field
    .slackToken('xapp-', 'Basic Information, App-Level Tokens')
    .optional()
    .describe(
      'The app-level token (xapp-…) with connections:write, by which Slack is listened to (Socket Mode). Secret.',
    ),
  SLACK_SIGNING_SECRET: field
    .slackSecret('Signing Secret')
    .optional()
    .describe(
      'In place of SLACK_APP_TOKEN: Slack then sends requests to the listener, at PUBLIC_URL/slack/events. The Signing Secret of your app proves them. Secret.',
    ),
  SLACK_CLIENT_ID: field.slackClientId.optional().meta({
    description:
      'In place of SLACK_BOT_TOKEN: any number of workspaces, each of which installs the app at PUBLIC_URL/slack/install.',
    otherwise: 'off',
  }),
  SLACK_CLIENT_SECRET: field
    .slackSecret('Client Secret')
    .optional()
    .describe(
      "The Client Secret that belongs to it. It also seals the workspaces' tokens in storage. Secret.",
    ),
  SLACK_CLIENT_SECRET_PREVIOUS: field
    .slackSecret('Client Secret')
    .optional()
    .describe('The Client Secret before the present one: it still opens what it sealed. Secret.'),
  SLACK_THREADS: field.flag
    .prefault('0')
    .describe(
      'Set to 1, threads that the bot takes part in go on without its name, and moderators may choose channels with talk in /models answers; the manifest is then made with --threads too.',
    ),
  SLACK_API_URL: field.baseUrl.optional().meta({
    description: "Another base for Slack's Web API, for proxies and tests.",
    example: 'https://slack.com/api/',
    otherwise: "Slack's own",
  }),
};
