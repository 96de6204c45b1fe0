// Whether these pages run in a frame of another page, as Safe shows its apps. A frame has no session cookie and perhaps
// no storage. So the pages then use the wallet and public reads, and sign-in opens a new tab.

/** True if the page is in a frame. */
export const isFramed = window.parent !== window
