/** The style of `/docs`: light and dark, from 360 px. */
export const docsStyle = `:root{color-scheme:light dark;--text:#1d2330;--faint:#555e6e;--page:#fff;--box:#f4f6f9;--line:#d3d8e1;--link:#1a56c4;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--text:#e4e7ee;--faint:#a9b2c2;--page:#14171d;--box:#1e232c;--line:#39414f;--link:#8ab4ff;--bad:#ff8a80}}
*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--text);background:var(--page);overflow-wrap:anywhere}
a{color:var(--link)}header,main,nav{max-width:60rem;margin:auto;padding:0 1rem}h1{margin:1.5rem 0 0}h2{margin:2rem 0 .5rem;font-size:1.2rem}h3{margin:1rem 0 .3rem;font-size:1rem}
.skip:not(:focus){position:absolute;left:-99rem}header p{margin:.4rem 0}header p a{margin-right:1rem}
.tools{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:end;padding:.7rem 0;border-bottom:1px solid var(--line)}
[hidden]{display:none!important}.tools label{flex:1 1 14rem;min-width:0}label span,.note{display:block;font-size:.85rem;color:var(--faint)}
input,textarea,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--faint);border-radius:5px;padding:.35rem .6rem;max-width:100%}
input,textarea{width:100%}textarea{font:13px/1.5 ui-monospace,monospace;min-height:9rem}button{cursor:pointer;background:var(--box)}:focus-visible{outline:2px solid var(--link);outline-offset:2px}
nav ul{columns:14rem;padding:0;margin:.6rem 0;list-style:none}main>section{scroll-margin-top:6rem}
details{border:1px solid var(--line);border-radius:6px;margin:.4rem 0;padding:.45rem .8rem;scroll-margin-top:6rem}summary{cursor:pointer}summary b{display:inline-block;min-width:4.2rem}
code,pre{font:13px/1.5 ui-monospace,monospace}pre{background:var(--box);padding:.7rem;overflow:auto;border-radius:4px;margin:.3rem 0;max-height:28rem;white-space:pre-wrap}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.93rem}th,td{text-align:left;vertical-align:top;padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--line)}th{color:var(--faint);font-weight:600;overflow-wrap:normal}
td:first-child{min-width:8rem}td:nth-child(2){min-width:6rem}.bad{color:var(--bad);font-weight:600}.try{border-top:1px solid var(--line);margin-top:1rem;padding-top:.3rem}.try label{display:block;margin:.4rem 0}.row{display:flex;gap:.6rem;align-items:center;flex-wrap:wrap;margin:.5rem 0}`;
