/** The pictures of the Studio, of lucide: scripts/studio.ts takes their strokes, each as one path on a square of 24. */
import activity from "lucide-static/icons/activity.svg";
import alarmClock from "lucide-static/icons/alarm-clock.svg";
import appWindow from "lucide-static/icons/app-window.svg";
import arrowDown from "lucide-static/icons/arrow-down.svg";
import arrowLeft from "lucide-static/icons/arrow-left.svg";
import arrowRight from "lucide-static/icons/arrow-right.svg";
import arrowUpDown from "lucide-static/icons/arrow-up-down.svg";
import arrowUp from "lucide-static/icons/arrow-up.svg";
import badgeCheck from "lucide-static/icons/badge-check.svg";
import ban from "lucide-static/icons/ban.svg";
import bell from "lucide-static/icons/bell.svg";
import book from "lucide-static/icons/book.svg";
import box from "lucide-static/icons/box.svg";
import building2 from "lucide-static/icons/building-2.svg";
import calendar from "lucide-static/icons/calendar.svg";
import chartColumn from "lucide-static/icons/chart-column.svg";
import chevronDown from "lucide-static/icons/chevron-down.svg";
import circleCheck from "lucide-static/icons/circle-check.svg";
import circleX from "lucide-static/icons/circle-x.svg";
import clock from "lucide-static/icons/clock.svg";
import columns3 from "lucide-static/icons/columns-3.svg";
import copy from "lucide-static/icons/copy.svg";
import database from "lucide-static/icons/database.svg";
import externalLink from "lucide-static/icons/external-link.svg";
import eye from "lucide-static/icons/eye.svg";
import file from "lucide-static/icons/file.svg";
import fileText from "lucide-static/icons/file-text.svg";
import flaskConical from "lucide-static/icons/flask-conical.svg";
import folder from "lucide-static/icons/folder.svg";
import globe from "lucide-static/icons/globe.svg";
import layoutGrid from "lucide-static/icons/layout-grid.svg";
import heart from "lucide-static/icons/heart.svg";
import hourglass from "lucide-static/icons/hourglass.svg";
import house from "lucide-static/icons/house.svg";
import image from "lucide-static/icons/image.svg";
import keyRound from "lucide-static/icons/key-round.svg";
import link from "lucide-static/icons/link.svg";
import list from "lucide-static/icons/list.svg";
import listFilter from "lucide-static/icons/list-filter.svg";
import lock from "lucide-static/icons/lock.svg";
import mail from "lucide-static/icons/mail.svg";
import maximize2 from "lucide-static/icons/maximize-2.svg";
import menu from "lucide-static/icons/menu.svg";
import messageSquareText from "lucide-static/icons/message-square-text.svg";
import minus from "lucide-static/icons/minus.svg";
import newspaper from "lucide-static/icons/newspaper.svg";
import panelsTopLeft from "lucide-static/icons/panels-top-left.svg";
import pencil from "lucide-static/icons/pencil.svg";
import phone from "lucide-static/icons/phone.svg";
import pilcrow from "lucide-static/icons/pilcrow.svg";
import play from "lucide-static/icons/play.svg";
import plug from "lucide-static/icons/plug.svg";
import plus from "lucide-static/icons/plus.svg";
import refreshCw from "lucide-static/icons/refresh-cw.svg";
import rotateCcw from "lucide-static/icons/rotate-ccw.svg";
import search from "lucide-static/icons/search.svg";
import send from "lucide-static/icons/send.svg";
import settings from "lucide-static/icons/settings.svg";
import shapes from "lucide-static/icons/shapes.svg";
import shoppingCart from "lucide-static/icons/shopping-cart.svg";
import sparkles from "lucide-static/icons/sparkles.svg";
import squareKanban from "lucide-static/icons/square-kanban.svg";
import star from "lucide-static/icons/star.svg";
import table from "lucide-static/icons/table.svg";
import tag from "lucide-static/icons/tag.svg";
import tags from "lucide-static/icons/tags.svg";
import trash2 from "lucide-static/icons/trash-2.svg";
import triangleAlert from "lucide-static/icons/triangle-alert.svg";
import user from "lucide-static/icons/user.svg";
import users from "lucide-static/icons/users.svg";
import usersRound from "lucide-static/icons/users-round.svg";
import webhook from "lucide-static/icons/webhook.svg";
import workflow from "lucide-static/icons/workflow.svg";
import x from "lucide-static/icons/x.svg";
import chevronsUpDown from "lucide-static/icons/chevrons-up-down.svg";
import ellipsis from "lucide-static/icons/ellipsis.svg";
import inbox from "lucide-static/icons/inbox.svg";
import logOut from "lucide-static/icons/log-out.svg";
import panelLeft from "lucide-static/icons/panel-left.svg";
import rows3 from "lucide-static/icons/rows-3.svg";
import parcel from "lucide-static/icons/package.svg";
import lifeBuoy from "lucide-static/icons/life-buoy.svg";
import briefcase from "lucide-static/icons/briefcase.svg";
import check from "lucide-static/icons/check.svg";
import filePlus from "lucide-static/icons/file-up.svg";
import keyboard from "lucide-static/icons/keyboard.svg";
import bot from "lucide-static/icons/bot.svg";

export const icons = {
  // Those of `icon` in `definePlugin({ studio })`, by these names.
  bell,
  book,
  box,
  calendar,
  cart: shoppingCart,
  chart: chartColumn,
  clock,
  file,
  folder,
  globe,
  heart,
  home: house,
  image,
  list,
  mail,
  phone,
  settings,
  star,
  table,
  tag,
  user,
  users,
  // The Studio's own.
  bag: briefcase,
  bot,
  check,
  choose: chevronsUpDown,
  help: lifeBuoy,
  inbox,
  keyboard,
  more: ellipsis,
  out: logOut,
  parcel,
  rows: rows3,
  side: panelLeft,
  upload: filePlus,
  activity,
  alarm: alarmClock,
  app: appWindow,
  article: newspaper,
  board: squareKanban,
  building: building2,
  columns: columns3,
  copy,
  database,
  down: arrowDown,
  edit: pencil,
  external: externalLink,
  eye,
  filter: listFilter,
  flow: workflow,
  gallery: layoutGrid,
  good: circleCheck,
  key: keyRound,
  layout: panelsTopLeft,
  left: arrowLeft,
  link,
  lock,
  menu,
  minus,
  open: maximize2,
  order: arrowUpDown,
  page: fileText,
  paragraph: pilcrow,
  play,
  plug,
  plus,
  prompt: messageSquareText,
  refresh: refreshCw,
  retry: rotateCcw,
  right: arrowRight,
  search,
  send,
  sparkles,
  stop: ban,
  tags,
  team: usersRound,
  test: flaskConical,
  trash: trash2,
  unfold: chevronDown,
  units: shapes,
  up: arrowUp,
  verify: badgeCheck,
  waiting: hourglass,
  warn: triangleAlert,
  webhook,
  wrong: circleX,
  x,
} as const;

export type IconName = keyof typeof icons;
