// The reader's choice of dark or light, before anything is drawn. It is a file of its
// own, and no module, which would come too late: the pages' policy runs nothing inline.
// What needs JavaScript has its room from the beginning, or the text would jump.
document.documentElement.classList.add('scripted');
document.documentElement.dataset.theme = localStorage.getItem('theme') || '';
