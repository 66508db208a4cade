package dataset

import "strings"

// words is what generated text is made of: 512 short English words, most of
// them one token with the blank before them. Its length is a power of two so
// that nine bits pick a word; the first 256 also write nonces. Changing a word changes
// the hash of every generated dataset.
var words = strings.Fields(`
time year people way day man thing woman life child world school state family group hand part place case week system work night point
home water room mother area money story fact month lot right study book eye job word side kind head house friend father power hour
game line end member law car city name team minute idea body back parent face level office door health person art war party result
change reason girl guy moment air force foot boy age policy music market sense nation plan death course effort class field paper
space ground form event matter center couple site base star table court oil half cost figure street image phone data cover camera
stage staff stone sun sea tree wind rain snow river lake hill road bridge train plane ship boat wheel glass metal wood gold silver
iron steel cloth cotton paint color red blue green black white brown yellow light dark heavy small large long short high low deep
wide thin thick hot cold warm cool dry wet new old young early late fast slow hard soft loud quiet clear clean sharp smooth rough
sweet salt sugar bread milk meat fish rice egg fruit apple lemon corn bean seed plant leaf root flower grass garden farm horse cow
dog cat bird bear wolf lion tiger mouse sheep goat duck chair desk lamp clock bed wall roof floor window garage shop store bank
hotel church museum park beach island forest desert valley summer winter spring autumn north south east west left top bottom front
corner edge middle circle square shape size weight length speed sound voice song dance movie show radio letter page note list number
test answer lesson grade score prize gift card ticket key lock box bag cup plate knife fork spoon bottle pot pan coat shirt dress
shoe hat ring watch belt pocket button needle thread rope chain nail hammer tool engine motor fuel wire cable switch screen signal
code file disk memory cache queue stack graph node path loop array string value input output record packet router server client user
order price sale trade profit tax budget loan debt stock share bond union vote leader mayor judge jury police guard army navy pilot
driver doctor nurse writer artist singer actor chef farmer worker boss owner tenant guest host winner loser player coach fan crowd
cause effect risk chance luck hope fear joy anger love trust truth lie dream sleep rest walk run jump climb swim ride drive fly push
pull lift carry throw catch hold drop cut break build fix make take give get keep send bring buy sell pay save spend win lose start
stop open close begin finish enter leave arrive return move turn stay wait follow lead help ask tell say speak talk read write draw
sing play learn teach know think feel see look hear listen touch taste smell eat drink cook wash sweep cross pass reach add count
weigh choose decide agree accept refuse allow offer invite join first last next second third full empty mirror harbor simple range
canvas`)
