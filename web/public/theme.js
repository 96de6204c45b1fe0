// Before anything is painted: the theme that was chosen here, if one was.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme
    for (const meta of document.querySelectorAll('meta[name="theme-color"]'))
      meta.content = theme === 'dark' ? '#0c0e14' : '#f6f7fa'
  }
} catch {
  // Storage may be forbidden; the system's theme applies then.
}
