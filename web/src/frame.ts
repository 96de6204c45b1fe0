// Whether the pages run in another page's frame, as Safe shows its apps. Such a frame has no session cookie and perhaps
// no storage, so the pages there use the wallet and public reads, and sign-in opens its own tab.

/** True in a frame. */
export const isFramed = window.parent !== window
