/** Where browsers install the app, and where Slack sends them back to; below the listener's public address. */
export const INSTALL_PATH = '/slack/install';
export const REDIRECT_PATH = '/slack/oauth_redirect';
