/** Slack's requests to the listener, by Bolt's own receiver: events instead of Socket Mode, and the pages that install the app. */
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

/** Forms with lyrics and messages from menus are far smaller. */
const BODY_BYTES = 1024 * 1024;
const WARN_EVERY_MS = 60_000;

export interface HttpOptions extends Pick<ConnectionOptions, 'client' | 'now' | 'log'> {
  /** Absent where events come by Socket Mode. */
  readonly signingSecret: string | undefined;
  /** Absent where the app is that of one workspace. */
  readonly oauth?: { readonly account: OAuthAccount; readonly store: InstallationStore } | undefined;
  /** How long Slack waits for an acknowledgement. */
  readonly patienceMs: number;
}

/** The receiver listens at no port of its own: our listener passes on what comes at these routes. */
export function createHttp({ signingSecret, oauth, patienceMs, client, now, log }: HttpOptions) {
  let taking = false;
  let refused = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  const receiver = new HTTPReceiver({
    signingSecret: signingSecret ?? '',
    signatureVerification: signingSecret !== undefined,
    endpoints: signingSecret === undefined ? [] : [EVENTS_PATH],
    bodyLimit: BODY_BYTES,
    // Anybody can make it warn.
    logger: { ...client.logger, warn: client.logger.info },
    unhandledRequestTimeoutMillis: patienceMs,
    // Whole seconds: it was sent before the next one began.
    customPropertiesExtractor: ({ headers }) => ({
      sentAt: (Number(headers['x-slack-request-timestamp']) + 1) * 1000,
    }),
    // Slack sends events again.
    processEventErrorHandler: async ({ response }) => {
      if (!response.headersSent) response.writeHead(503).end();
      return false;
    },
    ...(oauth && installing(oauth, { client, log })),
  });

  /** Changes nothing that others see: anybody can send such a request. */
  function tellRefusal(): void {
    refused += 1;
    if (now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now();
    log.warn(
      { refused },
      'Rejected requests without a valid signature: not from Slack, wrong SLACK_SIGNING_SECRET, or wrong clock on this machine',
    );
  }

  const connection: Connection = {
    get trouble() {
      return taking ? undefined : 'not accepting requests';
    },
    init: (app) => receiver.init(app),
    async start() {
      taking = true;
    },
    refuse() {
      taking = false;
    },
    async stop() {
      taking = false;
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
      if (request.method === 'POST' && !taking) return void response.writeHead(503).end();
      response.once('finish', () => {
        if (response.statusCode === 401) tellRefusal();
      });
      receiver.requestListener(request, response);
    },
  };
  return {
    connection,
    routes,
    /** The token of an installation, replaced when it ends soon. Does nothing where nobody can install the app. */
    authorize: async (query: InstallationQuery<boolean>) => await receiver.installer?.authorize(query),
  };
}

/** The SDK makes and checks the state: signed, ten minutes, in a cookie. */
function installing(
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
          const place = isEnterpriseInstall ? enterprise : team;
          log.info({ team: place?.id }, 'A workspace or organisation installed the app');
          const where = place?.name ?? 'your workspace';
          sendPage(
            response,
            200,
            'Minstrel is installed',
            html`Minstrel is ready in ${where}. In a channel, type <b>/invite @minstrel</b>, then <b>/song a tune for rain</b>.`,
          );
        },
        failure: (error, _options, _request, response) => {
          log.warn({ err: error, code: error.code }, 'App installation failed');
          sendPage(
            response,
            400,
            'Minstrel was not installed',
            html`The page expired, or the installation was not approved in Slack. <a href="${publicUrl + INSTALL_PATH}">Try again</a>.`,
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
