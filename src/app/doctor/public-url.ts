/** Checks that the gateway can reach the listener, with a request to ourselves through the public URL. */
import { createHmac } from 'node:crypto';
import { type Finding, good, warning, wrong } from '../../core/finding.ts';
import type { System } from '../../core/system.ts';
import { type ConnectionFault, connectionFault, isWithoutTls } from '../../core/util/connection-fault.ts';
import { present } from '../../core/util/present.ts';
import { isOwnNetwork, ListenError, listenAt, type Routes } from '../../http/server.ts';
import { isThisMachine } from '../config/checks.ts';
import type { Config } from '../config/read.ts';

const SUBJECT = 'PUBLIC_URL';
const TIMEOUT_MS = 10_000;

/** True if the URL refers to this machine or its network. */
const isNear = (url: string): boolean => {
  const { hostname } = new URL(url);
  return (
    isThisMachine(url) ||
    isOwnNetwork(hostname.replace(/^\[|\]$/g, '')) ||
    /\.(local|lan|internal)$/.test(hostname)
  );
};

export interface ReachOptions extends Pick<System, 'newId' | 'log'> {
  readonly fetch: typeof fetch;
}

export async function inspectPublicUrl(
  { accounts, listener: { host, port, publicUrl } }: Pick<Config, 'accounts' | 'listener'>,
  { fetch, newId, log }: ReachOptions,
): Promise<Finding[]> {
  // Music calls back, and both download recordings and images from here.
  const service = accounts.music ?? accounts.media;
  if (service === undefined)
    return [
      good(
        SUBJECT,
        Object.keys(accounts).length === 0
          ? 'not needed: the built-in emulator runs on this machine'
          : 'not needed: only songs and videos need it',
      ),
    ];
  const tunnel = `set it to a URL that reaches this machine from the internet. If the machine is not public, open a tunnel: cloudflared tunnel --url http://127.0.0.1:${port}`;
  const isElsewhere = !isThisMachine(service.baseUrl);
  if (publicUrl === undefined && isElsewhere)
    return [
      accounts.music
        ? wrong(SUBJECT, 'not set, so songs can never arrive', tunnel)
        : warning(SUBJECT, 'not set, so videos cannot start from an image', tunnel),
    ];
  const url = publicUrl ?? `http://127.0.0.1:${port}`;
  if (isElsewhere && (isNear(service.baseUrl) ? isThisMachine(url) : isNear(url)))
    return [wrong(SUBJECT, 'points to this machine or its network, which the service cannot reach', tunnel)];

  const secret = newId();
  const challenge = newId();
  const signed = createHmac('sha256', secret).update(challenge).digest('base64url');
  const routes: Routes = (scope) => {
    scope.get(`/callbacks/doctor/${challenge}`, (_request, reply) => reply.send({ signed }));
  };
  try {
    const listener = await listenAt({ host, port, log });
    try {
      await listener.serve([routes]);
      const answer = await ask(fetch, `${url}/callbacks/doctor/${challenge}`);
      if (answer.text?.includes(signed)) return [reachable(url)];
      // A bot in another container or behind a load balancer does not know this challenge.
      return [
        isOfBot(answer) ? good(SUBJECT, `${url} reaches a running bot`) : unreachable(url, answer, tunnel),
      ];
    } finally {
      await listener.close();
    }
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const answer = await ask(fetch, `${url}${UNKNOWN_PATH}`);
    return [isOfBot(answer) ? reachable(url) : unreachable(url, answer, tunnel)];
  }
}

/** Proxies forward callbacks, but may answer `/healthz` themselves. */
const UNKNOWN_PATH = '/callbacks/nowhere';

const isOfBot = ({ status, text }: Answer): boolean => status === 404 && text === '{"error":"not found"}';

/** Resolves to true if a running bot responds at the URL. Never rejects. */
export async function isBotAt(url: string, fetch: ReachOptions['fetch']): Promise<boolean> {
  return isOfBot(await ask(fetch, `${url}${UNKNOWN_PATH}`));
}

const reachable = (url: string): Finding => good(SUBJECT, `${url} reaches this bot`);

interface Answer {
  readonly status?: number;
  readonly text?: string;
  readonly fault?: ConnectionFault;
}

async function ask(fetch: ReachOptions['fetch'], url: string): Promise<Answer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
    return { status: response.status, text: (await response.text()).slice(0, 10_000) };
  } catch (error) {
    return present({ fault: connectionFault(error) });
  }
}

function unreachable(url: string, { status, fault }: Answer, tunnel: string): Finding {
  if (isWithoutTls(fault))
    return wrong(
      SUBJECT,
      `${url} starts with https://, but the server there speaks only http`,
      'put a proxy with TLS in front of PORT, or set PUBLIC_URL to an http:// address',
    );
  return status === undefined
    ? warning(
        SUBJECT,
        `${url} does not respond to a request from this machine`,
        `check the proxy, firewall and DNS (some routers block requests from inside their own network); or ${tunnel}`,
      )
    : wrong(
        SUBJECT,
        `a different server responds at ${url} (status ${status})`,
        'forward every path under this URL to HOST:PORT, unchanged',
      );
}
