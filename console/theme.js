// Before the first paint, so that nobody sees the other theme for a moment.
const theme = localStorage.getItem('theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
