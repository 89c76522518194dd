/** The pages that install the app in a workspace: `/slack/install`, and the one that Slack sends the browser back to. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HTTPReceiver, type InstallationStore } from '@slack/bolt';
import { BOT_SCOPES, INSTALL_PATH, REDIRECT_PATH } from '../../manifest.ts';
import { webClientOptions } from '../client.ts';
import type { ConnectionOptions, OAuthAccount } from '../connection.ts';
import { keyOf } from './seal.ts';

export interface InstallPageOptions
  extends Omit<OAuthAccount, 'type'>,
    Pick<ConnectionOptions, 'client' | 'log'> {
  readonly store: InstallationStore;
}

/** Answers a browser at one of the two paths. The SDK makes and checks the state: signed, ten minutes, in a cookie. */
export function createInstallPages(
  options: InstallPageOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { clientId, clientSecret, publicUrl, store, client, log } = options;
  const receiver = new HTTPReceiver({
    // It takes no events here, so there is nothing to verify.
    signingSecret: '',
    signatureVerification: false,
    endpoints: [],
    logger: client.logger,
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
      ...(client.apiUrl === undefined
        ? {}
        : { authorizationUrl: new URL('/oauth/v2/authorize', client.apiUrl).href }),
      callbackOptions: {
        success: ({ team, enterprise, isEnterpriseInstall }, _options, _request, response) => {
          const place = isEnterpriseInstall ? enterprise : team;
          log.info({ team: place?.id }, 'A workspace or an organisation installed the app');
          const where = place?.name === undefined ? 'your workspace' : escapeHtml(place.name);
          sendPage(response, 200, {
            title: 'Minstrel is here',
            text: `Minstrel is installed in ${where}. In a channel, type <b>/invite @minstrel</b>, then <b>/song a tune for rain</b>.`,
          });
        },
        failure: (error, _options, _request, response) => {
          log.warn({ err: error, code: error.code }, 'A workspace could not install the app');
          sendPage(response, 400, {
            title: 'Minstrel was not installed',
            text: `Nothing was installed: the page was too old, or Slack did not agree. Please <a href="${escapeHtml(publicUrl + INSTALL_PATH)}">try again</a>.`,
          });
        },
      },
    },
  });
  return (request, response) => receiver.requestListener(request, response);
}

function sendPage(
  response: ServerResponse,
  status: number,
  { title, text }: { readonly title: string; readonly text: string },
): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  });
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>body{font:18px/1.5 system-ui;max-width:34em;margin:15vh auto;padding:0 1em}</style><h1>${title}</h1><p>${text}</p></html>`,
  );
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
