/** The callback ids of shortcuts, as the manifest declares them and the listeners know them; a command's name follows. */
export const MESSAGE_SHORTCUT = 'message-menu:';
export const GLOBAL_SHORTCUT = 'form:';
