/** Handles Slack's HTTP requests with Bolt's receiver: events, and the pages that install the app. */
import type { ServerResponse } from 'node:http';
import {
  HTTPReceiver,
  type HTTPReceiverOptions,
  type InstallationQuery,
  type InstallationStore,
} from '@slack/bolt';
import { type Html, html } from '../../../core/web/html.ts';
import type { PlatformRoutes } from '../../../core/web/platform-routes.ts';
import { BOT_SCOPES, EVENTS_PATH, INSTALL_PATH, REDIRECT_PATH } from '../manifest.ts';
import { webClientOptions } from './client.ts';
import { keyOf } from './oauth/seal.ts';
import type { Connection, ConnectionOptions, OAuthAccount } from './options.ts';

/** The largest forms and messages are far smaller. */
const BODY_BYTES = 1024 * 1024;
const WARN_EVERY_MS = 60_000;

export interface HttpOptions extends Pick<ConnectionOptions, 'client' | 'now' | 'log'> {
  /** Absent in Socket Mode. */
  readonly signingSecret: string | undefined;
  /** Absent if the app serves one workspace. */
  readonly oauth?: { readonly account: OAuthAccount; readonly store: InstallationStore } | undefined;
  /** How long Slack waits for an acknowledgement. */
  readonly patienceMs: number;
}

/** The receiver opens no port: the bot's listener forwards requests at these routes. */
export function createHttp({ signingSecret, oauth, patienceMs, client, now, log }: HttpOptions) {
  let accepting = false;
  let refused = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  const receiver = new HTTPReceiver({
    signingSecret: signingSecret ?? '',
    signatureVerification: signingSecret !== undefined,
    endpoints: signingSecret === undefined ? [] : [EVENTS_PATH],
    bodyLimit: BODY_BYTES,
    // Anyone can trigger its warnings.
    logger: { ...client.logger, warn: client.logger.info },
    unhandledRequestTimeoutMillis: patienceMs,
    // The timestamp is in whole seconds, so the request was sent before the next second.
    customPropertiesExtractor: ({ headers }) => ({
      sentAt: (Number(headers['x-slack-request-timestamp']) + 1) * 1000,
    }),
    // Slack sends the event again after an error.
    processEventErrorHandler: async ({ response }) => {
      if (!response.headersSent) response.writeHead(503).end();
      return false;
    },
    ...(oauth && oauthOptions(oauth, { client, log })),
  });

  /** Logs at most once a minute, and changes no status, because anyone can send such requests. */
  function logRejection(): void {
    refused += 1;
    if (now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now();
    log.warn(
      { refused },
      'Rejected requests without a valid signature: not from Slack, wrong SLACK_SIGNING_SECRET, or wrong clock on this machine',
    );
  }

  const connection: Connection = {
    get problem() {
      return accepting ? undefined : 'not accepting requests';
    },
    init: (app) => receiver.init(app),
    async start() {
      accepting = true;
    },
    drain() {
      accepting = false;
    },
    async stop() {
      accepting = false;
    },
  };
  const routes: PlatformRoutes = {
    routes: [
      ...(signingSecret === undefined ? [] : [{ method: 'POST', path: EVENTS_PATH } as const]),
      ...(oauth === undefined
        ? []
        : [INSTALL_PATH, REDIRECT_PATH].map((path) => ({ method: 'GET', path }) as const)),
    ],
    handle(request, response) {
      if (request.method === 'POST' && !accepting) return void response.writeHead(503).end();
      response.once('finish', () => {
        if (response.statusCode === 401) logRejection();
      });
      receiver.requestListener(request, response);
    },
  };
  return {
    connection,
    routes,
    /** Returns the token of an installation and refreshes it if it expires soon. Does nothing without OAuth. */
    authorize: async (query: InstallationQuery<boolean>) => await receiver.installer?.authorize(query),
  };
}

/** The SDK signs and checks the state, in a cookie that expires after ten minutes. */
function oauthOptions(
  { account: { clientId, clientSecret, publicUrl }, store }: NonNullable<HttpOptions['oauth']>,
  { client, log }: Pick<ConnectionOptions, 'client' | 'log'>,
): Partial<HTTPReceiverOptions> {
  return {
    clientId,
    clientSecret,
    stateSecret: keyOf(clientSecret, 'minstrel slack install state').toString('base64url'),
    redirectUri: `${publicUrl}${REDIRECT_PATH}`,
    scopes: [...BOT_SCOPES],
    installationStore: store,
    installerOptions: {
      directInstall: true,
      installPath: INSTALL_PATH,
      redirectUriPath: REDIRECT_PATH,
      clientOptions: webClientOptions(client),
      ...(client.apiUrl !== undefined && {
        authorizationUrl: new URL('/oauth/v2/authorize', client.apiUrl).href,
      }),
      callbackOptions: {
        success: ({ team, enterprise, isEnterpriseInstall }, _options, _request, response) => {
          const installedIn = isEnterpriseInstall ? enterprise : team;
          log.info({ team: installedIn?.id }, 'A workspace or organisation installed the app');
          const where = installedIn?.name ?? 'your workspace';
          sendPage(
            response,
            200,
            'Minstrel is installed',
            html`Minstrel is ready in ${where}. In a channel, type <b>/invite @minstrel</b>, then <b>/minstrel help</b>.`,
          );
        },
        failure: (error, _options, _request, response) => {
          log.warn({ err: error, code: error.code }, 'App installation failed');
          sendPage(
            response,
            400,
            'Minstrel was not installed',
            html`The page expired, or the installation wasn't approved in Slack. <a href="${publicUrl + INSTALL_PATH}">Try again</a>.`,
          );
        },
      },
    },
  };
}

function sendPage(response: ServerResponse, status: number, title: string, text: Html): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  });
  response.end(
    html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>body{font:18px/1.5 system-ui;max-width:34em;margin:15vh auto;padding:0 1em}</style><h1>${title}</h1><p>${text}</p></html>`
      .markup,
  );
}
