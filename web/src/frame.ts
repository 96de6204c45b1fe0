// Whether these pages run in a frame of another page, as Safe shows its apps. A frame has no session cookie and perhaps
// no storage, so the pages then use the wallet and public reads, and sign-in opens its own tab.

/** True in a frame. */
export const isFramed = window.parent !== window
