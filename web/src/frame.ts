// Whether the pages stand in another page's frame, as Safe shows its apps. Such a frame has no session cookie and perhaps no storage: what the
// pages do there goes by the wallet and public reads, and signing in opens a tab of its own.

/** True in a frame. */
export const isFramed = window.parent !== window
