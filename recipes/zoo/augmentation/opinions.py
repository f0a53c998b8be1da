"""The grammar of recipes/zoo/augmentation/sentiment.py: words, parts of sentences, and whole opinions, written for this file.

{name} stands for any line of PARTS[name]; g is what praises, b what complains. What a part is worth is known where it is alone;
POSITIVE and NEGATIVE say what it is worth within a sentence: negated, turned around, compared, played down.
"""


def words(text):
    return text.split()


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


PARTS = {
    "g": words("""good great tasty friendly comfortable beautiful helpful funny fast clean reliable interesting pleasant useful solid exciting fresh
        cheerful excellent wonderful amazing fantastic lovely delicious superb brilliant perfect charming delightful enjoyable entertaining gripping
        moving clever witty original touching memorable impressive outstanding remarkable terrific fabulous awesome cozy warm kind polite attentive
        patient generous honest professional efficient quick prompt sturdy durable sharp crisp clear bright smooth elegant stylish attractive pretty
        gorgeous stunning spacious quiet peaceful relaxing convenient handy practical affordable inexpensive fair reasonable rewarding satisfying
        refreshing tender juicy crispy creamy flavorful rich authentic creative imaginative inspiring powerful believable convincing thrilling
        hilarious heartwarming captivating engaging intelligent thoughtful sweet adorable magnificent splendid flawless first-rate top-notch
        decent nice fine likeable talented skilled welcoming hospitable competent accurate responsive light safe snug cute cool fun"""),
    "b": words("""bad awful boring rude dirty slow useless disappointing cheap ugly broken painful stupid noisy stale expensive dull weak terrible
        horrible dreadful poor pathetic lousy mediocre bland tasteless greasy soggy cold dry burnt overcooked undercooked salty rubbery watery
        disgusting gross nasty filthy smelly sticky cramped crowded loud uncomfortable unpleasant unfriendly unhelpful arrogant careless impatient
        incompetent unprofessional dishonest lazy clumsy confusing pointless predictable tedious tiresome shallow silly ridiculous laughable
        annoying irritating frustrating depressing forgettable uninspired lifeless wooden flat cheesy amateurish unconvincing unbelievable
        overpriced overrated flimsy fragile defective faulty unreliable worthless blurry dim fuzzy heavy bulky awkward complicated inconvenient
        unusable unacceptable inedible rotten sloppy messy chaotic shabby worn-out outdated dated tacky hideous unsafe dangerous embarrassing
        insulting offensive miserable sad tired lame sluggish glitchy wobbly scratchy harsh hopeless abysmal atrocious second-rate"""),
    "ger": words("better nicer faster friendlier cleaner tastier funnier brighter quieter clearer fresher smoother kinder sharper warmer"),
    "ber": words("worse slower ruder dirtier duller noisier uglier weaker sillier blander messier clumsier cheaper-looking"),
    "gest": words("best nicest friendliest cleanest funniest tastiest kindest loveliest finest"),
    "best": words("worst slowest rudest dullest dirtiest silliest ugliest weakest blandest poorest"),
    "t": lines("""food\nservice\nphone\nbattery\nfilm\nmovie\nstory\nacting\nroom\nstaff\nprice\nsound\nscreen\nplace\nmusic\ncoffee\npizza\ncamera\ncase\nplot
        ending\nwaiter\nsoup\ndessert\nheadset\nbook\nhotel\nrestaurant\nmeal\nbreakfast\nlunch\ndinner\nsteak\nburger\nsalad\nsauce\nfish\nchicken\nrice\nbread
        cake\nbeer\nwine\ntea\nmenu\nwaitress\nowner\nmanager\ncook\nbar\ncafé\nbakery\npatio\natmosphere\ndecor\nlocation\nview\npool\nbathroom\nbed\nmattress
        pillow\nchair\nsofa\nlamp\nkettle\ntoaster\nvacuum cleaner\nwasher\nheater\nfan\nlaptop\nkeyboard\nmouse\nprinter\ntablet\ncharger\ncable\nspeaker
        microphone\nremote\nwatch\nrouter\nsoftware\napp\nwebsite\ngame\nupdate\ninterface\nsetup\nmanual\npackaging\ndelivery\ncustomer service\nsupport
        warranty\nquality\ndesign\nmaterial\nfabric\nfit\ncolour\nsize\njacket\ndress\nshirt\nbackpack\nsuitcase\nbike\ncar\nengine\nride\nflight\ntrain
        trip\ntour\nguide\ndriver\nmuseum\nconcert\nband\nsinger\nalbum\nsong\nshow\nseries\nepisode\nscript\ndialogue\ndirecting\ncast\nlead actor\nlead actress
        soundtrack\nphotography\nediting\nopening\nfirst half\nsecond half\nfinale\nnovel\nauthor\nwriting\nchapter\ncourse\nteacher\nlecture\nclass\ngym
        trainer\nhaircut\nhairdresser\nmassage\ndentist\ndoctor\nnurse\nplumber\nmechanic\nrepair\nshop\nstore\nmarket\ngarden\npark\nbeach\nneighbourhood\napartment
        landlord\nkitchen\nwallet\ncamera bag\ntent\ngift\ntoy\npuzzle\npen\nnotebook\nknife\npan\nblender\nreception\nvolume\nBluetooth\nsignal\npicture\nconnection"""),
    "ts": lines("""portions\nprices\nrooms\nfries\nsandwiches\nvegetables\nnoodles\ntacos\nwaiters\nemployees\ncharacters\nactors\njokes\nscenes\nspecial effects\nsongs\nsongs
        dialogues\nheadphones\nspeakers\nearbuds\nbuttons\nbatteries\nshoes\nboots\nsocks\ngloves\nseats\nbeds\ntowels\nsheets\ncocktails\ndrinks\ndesserts\nstarters
        guides\nteachers\nlessons\ninstructions\nphotos\npictures\ncolours\nlyrics\nchapters\nillustrations\nstairs\ntickets\nreviews\npeople at the desk"""),
    "adv": lines("very\nreally\nso\nquite\nextremely\nincredibly\npretty\ntruly\nabsolutely\nremarkably\nsurprisingly\nrather"),
    "little": lines("a bit\na little\nsomewhat\nslightly\nrather\nkind of\na tad"),
    "time": lines("""a day\ntwo days\na week\nthree weeks\na month\ntwo months\nhalf a year\na year\nan hour\nten minutes\none use\nthe first wash\na few days\nfive minutes"""),
    "long": lines("two years\nthree years\nyears\na decade\nmonths of daily use\nfive winters\na hundred washes\nall this time"),
    "who": lines("my wife\nmy husband\nmy kids\nmy friends\nmy mother\nmy father\nmy daughter\nmy son\nwe\nthe whole family\nour guests\nmy colleagues\neverybody"),
    "gn": lines("""a joy\na pleasure\na delight\na gem\na treat\na masterpiece\na bargain\na keeper\na classic\na triumph\na hit\na winner\na blessing\na lifesaver
        a real find\na great buy\nmoney well spent\ntime well spent\na dream\nthe highlight of our trip\na feast for the eyes\na breath of fresh air"""),
    "bn": lines("""a joke\na disaster\na nightmare\na mess\na disgrace\na letdown\na disappointment\na failure\na flop\na waste of time\na waste of money
        a rip-off\na scam\na bore\na pain\na chore\na piece of junk\ngarbage\ntrash\nan insult\na torture\na complete mistake\na shame"""),
    "gnoun": lines("""charm\nflavour\nwit\nwarmth\ntalent\nimagination\nstyle\ncharacter\ndepth\ncare\nheart\nhumour\ntaste\nquality\nvalue\ncomfort\npatience\nenergy"""),
    "bnoun": lines("""problems\nissues\ncomplaints\nflaws\nfaults\ndelays\ndefects\nscratches\nsurprises\nhassle\nnoise\nregrets\nweaknesses\nerrors\ntrouble\ndrawbacks"""),
    "gdo": lines("""works like a charm\nworks perfectly\nruns smoothly\ndoes what it promises\nfits like a glove\nlooks stunning\nsounds rich and clear\ntastes heavenly
        smells wonderful\nexceeded my expectations\nmade my day\nput a smile on my face\nkept us entertained\nwon me over\nstill looks new\nis worth every penny
        deserves an award\nearns five stars\nis a cut above the rest\nlives up to its name\nhits the spot\nholds a charge for days\nsaved us a lot of money
        grew on me\ngets better every time\nhas everything you need\nmakes life easier\nblew me away\nleft me speechless with delight\nis second to none"""),
    "gdid": lines("""worked like a charm\nworked right away\nran without a hitch\narrived early\narrived in perfect condition\nmade us laugh\nmoved me to tears\nlooked gorgeous
        tasted fantastic\nwas cooked to perfection\nwas worth the wait\nwent the extra mile for us\ntook good care of us\nmade us feel at home\nexceeded all our hopes
        saved the evening\nwas spot on\ncaptivated me from start to finish\ngreeted us with a smile\nsolved the problem at once\nwas a steal"""),
    "bdo": lines("""falls apart\nkeeps crashing\nkeeps freezing\ndrops every call\ndrains the battery\nscratches easily\nleaks\nsqueaks\nsmells of plastic\ntastes like cardboard
        sounds tinny\nlooks nothing like the picture\nhardly works\nbarely holds a charge\nis a waste of money\ndrags on and on\nmakes no sense\ninsults your intelligence
        has gone downhill\nis not worth the money\ngets on my nerves\nleaves you hungry\nleaves much to be desired\nfalls short of its promise\nlacks any charm
        gave me a headache\nputs you to sleep\nbores you to tears\nlet us down\nneeds a lot of work"""),
    "bdid": lines("""broke after {time}\ndied after {time}\nstopped working after {time}\nfell apart after {time}\nwas broken when it arrived\narrived damaged\narrived two weeks late
        ruined our evening\nruined my shirt\nmade me sick\nput me to sleep\ntook forever\nignored us\noverheated\nburned out\ncracked\nleaked\ncrashed twice
        never arrived\nwas undercooked\nwas cold when it came\nmessed up our order\ncharged us twice\nrefused to help\nnever called back\nlost our reservation
        gave up the ghost after {time}\nwas a waste of an evening\nlet me down\ncost me a fortune and broke\nspoiled the whole trip\nmade me want my money back"""),
    "i": lines("I\nwe\n{who}"),
    "gc": lines("""the {t} was {g}\nthe {t} was {adv} {g}\nthe {t} is {g}\nthe {t} {gdo}\nthe {t} {gdid}\nthe {ts} were {g}\nthe {ts} are {adv} {g}\n{i} loved the {t}
        {i} enjoyed the {t}\nI like the {t}\nthe {t} was {gn}\nit is {gn}\nit {gdo}\nthe {t} had {gnoun}\n{i} had a {g} time\nthe {t} could not have been {ger}
        the {t} was {g} and {g}\nthere was a {g} {t}\nthe {t} was full of {gnoun}\nthe {t} was free of {bnoun}\nthe {t} never let us down\nI would buy the {t} again\nthe {t} was not {b}"""),
    "bc": lines("""the {t} was {b}\nthe {t} was {adv} {b}\nthe {t} is {b}\nthe {t} {bdo}\nthe {t} {bdid}\nthe {ts} were {b}\nthe {ts} are {adv} {b}\n{i} hated the {t}
        {i} disliked the {t}\nI can't stand the {t}\nthe {t} was {bn}\nit is {bn}\nit {bdo}\nthe {t} had no {gnoun}\n{i} had a {b} time\nthe {t} could not have been {ber}
        the {t} was {b} and {b}\nthere was a {b} {t}\nthe {t} lacked {gnoun}\nthe {t} was full of {bnoun}\nthe {t} let us down\nI would not buy the {t} again\nthe {t} was not {g}"""),
}

BEGINNINGS = lines("""honestly,\nto be honest,\noverall,\nin my opinion\nI must say\nI think\nI find that\nin the end\nthis time\nas for me,\nI have to say
    yes,\nwell,\nfor us\nlast night\nlast week\nso far\nall told,\nif you ask me,\nfrankly,\nin short,\nsurprisingly,\nfor a change\non the whole""")
ENDS = lines("""period\nthis time\nfor us\nif you ask me\nin my opinion\nto be honest\nreally\nI must say\nfor sure\nin the end\nas usual\nthat's all\ntoday\nto me""")
# The same, said otherwise.
OTHERS = [("is not", "isn't"), ("was not", "wasn't"), ("are not", "aren't"), ("were not", "weren't"), ("did not", "didn't"), ("does not", "doesn't"),
          ("do not", "don't"), ("would not", "wouldn't"), ("could not", "couldn't"), ("can't", "cannot"), ("won't", "will not"), ("I have", "I've"),
          ("it is", "it's"), ("the {t} was", "it was"), ("the {t} is", "it is"), ("the {t} was", "the {t} is"), ("the {t}", "this {t}"),
          ("the {t}", "their {t}"), ("the {t}", "my {t}"), ("this {t}", "the {t}")]

POSITIVE = lines("""
    {gc}.
    {gc}!
    {gc}, and {gc}.
    {adv} {g} {t}.
    {g} {t}, {g} {t}.
    what a {g} {t}!
    such a {g} {t}!
    {g}!
    the {t} was not {b} at all.
    not {b} at all.
    not {b}, really.
    not the least bit {b}.
    the {t} is never {b}.
    the {t} was never {b} for a moment.
    no complaints about the {t}.
    no {bnoun} with the {t}.
    no {bnoun} whatsoever.
    I had no {bnoun} with the {t}.
    there were no {bnoun} at all.
    I found no {bnoun}.
    zero {bnoun} so far.
    without any {bnoun}.
    I have yet to find any {bnoun}.
    nothing {b} about the {t}.
    nothing about the {t} was {b}.
    nothing to criticise.
    nobody was {b}, and the {t} {gdid}.
    none of the {ts} were {b}.
    not one of the {ts} was {b}.
    not a single {b} moment.
    there is not a {b} thing to say about the {t}.
    the {t} was anything but {b}.
    the {t} is by no means {b}.
    the {t} was in no way {b}.
    I can't complain about the {t}.
    I have nothing to complain about.
    I can't find fault with the {t}.
    I can't say anything {b} about the {t}.
    I can't fault it.
    I can't praise the {t} enough.
    I can't recommend the {t} enough.
    I can't wait to come back.
    I could not be happier with the {t}.
    we could not have asked for a {ger} {t}.
    I could not stop laughing.
    I could not put it down.
    the {t} could not be {ger}.
    it doesn't get any {ger} than this.
    it does not get more {g} than this.
    I have never had a {ger} {t}.
    I have never seen such a {g} {t}.
    never have I met such {g} people.
    I have rarely had such a {g} {t}.
    rarely is a {t} this {g}.
    you will not find a {ger} {t}.
    you won't be disappointed.
    you won't regret it.
    I do not regret it for a second.
    I don't regret buying the {t}.
    I would not trade the {t} for anything.
    I would not want to be without it.
    I would not change a thing about the {t}.
    I would not hesitate to order it again.
    don't hesitate to buy this {t}.
    don't miss this {t}.
    don't let the {b} {t} fool you, {gc}.
    do not listen to the {b} reviews, {gc}.
    it is hard not to like the {t}.
    it is impossible not to love the {t}.
    how can you not love this {t}?
    who would not like such a {g} {t}?
    what's not to like?
    there is nothing wrong with the {t}.
    nothing wrong here.
    far from {b}.
    the {t} is far from {b}.
    the {t} is a far cry from the {b} ones I had before.
    I was never disappointed by the {t}.
    the {t} has never let me down.
    the {t} did not disappoint.
    the {t} never disappoints.
    the {t} never failed.
    the {t} hasn't failed me in {long}.
    not once did the {t} fail.
    you can't go wrong with the {t}.
    you can't beat the {t} at this price.
    you can't ask for more.
    the {t} isn't {b}.
    the {ts} aren't {b} in the least.
    the {ts} were not {b} either.
    the {t} wasn't {b}, and neither was the {t}.
    neither the {t} nor the {t} was {b}.
    neither {b} nor {b}.
    the {t} was neither {b} nor {b}.
    hardly anything was {b}.
    there is hardly anything to dislike.
    hardly a {b} {t}.
    the {t} is not too {b}.
    the {t} is not that {b} after all.
    not as {b} as people say.
    the {t} was not nearly as {b} as I feared.
    the {t} is less {b} than I expected.
    the {t} was {ger} than I expected.
    {ger} than expected.
    {ger} than I dared to hope.
    much {ger} than my old one.
    far {ger} than the one I had before.
    this {t} beats all others.
    no other {t} is as {g}.
    no other {t} comes close.
    few {ts} are as {g} as these.
    this is the {gest} {t} in town.
    one of the {gest} {ts} I know.
    hands down the {gest} {t} I have had.
    I have had {b} {ts} before, and these are not among them.
    other {ts} are {b}, these are not.
    unlike the other {ts}, these are {g}.
    compared with my last one, this {t} is {g}.
    not bad.
    not half bad.
    not too shabby.
    pretty decent, all in all.
    it could be worse, I quite like the {t}.
    I have had far worse.
    not the worst {t} by a long way.
    I did not mind the {t} at all.
    I don't mind the {b} {t} at all, {gc}.
    I was not bored for a second.
    I was not unhappy with the {t}.
    I am not disappointed.
    I wasn't let down.
    not a bad {t}.
    not a bad {t} for the money.
    not an unpleasant {t} at all.
    the {t} was not without {gnoun}.
    the {t} doesn't lack {gnoun}.
    there is no lack of {gnoun} here.
    there was plenty of {gnoun}.
    {b} it is not.
    {b}? not at all.
    {b}? anything but.
    is it {b}? no, it is {g}.
    I would hardly call the {t} {b}.
    nobody could call the {t} {b}.
    nobody should miss it.
    nobody left unhappy.
    I thought the {t} would be {b}, but it was {g}.
    I was afraid the {t} would be {b}, but {gc}.
    I feared the worst, but {gc}.
    I expected a {b} {t} and got a {g} one.
    I expected little and got a lot.
    I did not expect much, but {gc}.
    I was sceptical at first, but {gc}.
    I had my doubts, but {gc}.
    at first I found the {t} {b}, now I love it.
    it looks {b}, but {gc}.
    it may look {b}, but {gc}.
    it sounds {b}, yet {gc}.
    people say the {t} is {b}, but they are wrong.
    they told me the {t} was {b}, and they were wrong.
    the {t} used to be {b}, now it is {g}.
    the {t} has become {ger}.
    the {t} started {b}, but then it got {g}.
    after a {b} start {gc}.
    the {t} is {b}, but everything else is {g}.
    the {t} was {little} {b}, yet I loved the {t}.
    the {t} was {little} {b}, but {gc}.
    {bc}, but {gc}.
    {bc}, but all in all {gc}.
    {bc}, yet {gc}.
    {bc}. still, {gc}.
    {bc}. but {gc}.
    {bc}; however, {gc}.
    {bc}. nevertheless {gc}.
    although {bc}, {gc}.
    though {bc}, {gc}.
    even though {bc}, {gc}.
    while {bc}, {gc}.
    {gc}, even though {bc}.
    {gc}, although {bc}.
    {gc} even if {bc}.
    despite the {b} {t}, I enjoyed it.
    despite the {b} {t}, {gc}.
    in spite of the {b} {t} {gc}.
    apart from the {b} {t}, {gc}.
    except for the {t}, everything was {g}.
    the only {b} thing was the {t}, the rest was {g}.
    my only complaint is the {t}, otherwise {gc}.
    {b} {t}, but {g} {t}.
    {b} {t} aside, {gc}.
    the {g} {t} makes up for the {b} {t}.
    the {t} more than made up for it.
    if only every {t} were this {g}.
    I wish all {ts} were like these.
    I wish I had bought it sooner.
    I should have bought the {t} years ago.
    I only wish there was more of it.
    I'd go back in a heartbeat.
    we will be back.
    we will definitely come again.
    I'd buy it again without thinking twice.
    I'd order it again any day.
    worth every penny.
    worth the money.
    well worth a visit.
    worth the long wait.
    highly recommended.
    I recommend the {t} to everyone.
    two thumbs up.
    five stars.
    five stars are not enough.
    ten out of ten.
    thank you for the {g} {t}.
    hats off to the {t}.
    {who} liked the {t} a lot.
    {who} loved it.
    {who} could not get enough of it.
    {who} had no complaints.
    {who} did not want to leave.
    {who} had nothing but praise for the {t}.
    nothing but praise for the {t}.
    nothing but {g} {ts}.
    the {t} still works after {long}.
    after {long} the {t} is still {g}.
    {long} later, it still runs.
    it has not broken yet, after {long}.
    it survived a fall without a scratch.
    it never crashes.
    it doesn't leak, doesn't squeak, and it {gdo}.
    it is not cheap, but worth every cent.
    it isn't {b} like the others.
    it is not only {g} but also {g}.
    not only was the {t} {g}, {gc} too.
    the {t} was not just {g}, it was {g}.
    the {t} is too {g} to miss.
    the {t} can't be {g} enough, and this one is.
    it is {g} without being {b}.
    {g} without being {b}.
    the {t} is never {b}, always {g}.
    more {g} than {b}.
    it is no exaggeration to call the {t} {g}.
    I am glad I did not listen to the critics.
    I was wrong about the {t}, it is {g}.
    it won't win prizes, but {gc}.
    it is no masterpiece, but {gc}.
    it is not perfect, but {gc}.
    not perfect, but {g} all the same.
    say what you will, {gc}.
    all in all {gc}.
    to my surprise {gc}.
    fortunately {gc}.
    luckily {gc}.
    as always, {gc}.
    I am impressed.
    I am more than satisfied with the {t}.
    I was pleasantly surprised by the {t}.
    I fell in love with the {t}.
    hard to beat.
    a must for everyone.
    {gn}.
    the {t} is {gn}.
    the {t} was far from {bn}.
    the {t} is not {bn}, it is {gn}.
    it was no {b} choice after all.
    the {t} proved everyone wrong, {gc}.
    say nothing {b} about this {t}, {gc}.
    I don't think the {t} is {b}.
    I don't think you can find a {ger} {t}.
    I don't believe that anybody could dislike the {t}.
    I doubt that there is a {ger} {t}.
    I never thought a {t} could be so {g}.
    I never get tired of the {t}.
    I have no reason to complain.
    there is no reason not to buy it.
    there is no reason to look any further.
    it was over far too soon.
    time flew by.
    I did not want it to end.
    I laughed, I cried, I want to see it again.
    the {t} was a lot {ger} than its {b} reputation.
    the {t} turned out to be {g}.
    the {t} proved to be {g} after all.
    rarely have I been so well served.
    seldom have I seen a {ger} {t}.
    I seldom write reviews, but {gc}.
    you would be foolish to miss the {t}.
    if you want a {g} {t}, look no further.
    if you don't like the {t}, I can't help you.
    who needs a {ger} {t}?
    who could ask for more?
    could I be any happier with the {t}? no.
    anyone who dislikes the {t} has no taste.
    only a fool would dislike the {t}.
    the critics hated it, I loved it.
    the critics are wrong about the {t}.
    {b} would be the wrong word for the {t}.
    the {t} was {b}? I did not notice, since {gc}.
    I have tried many {ts}, and none were {ger}.
    I have tried everything, nothing works {ger}.
    nothing beats the {t}.
    nothing comes close to this {t}.
    nothing went wrong.
    nothing could spoil the {g} {t}.
    not even the {b} {t} could spoil it.
    not even the {b} {t} bothered me.
    even the {t} was {g}.
    even my picky father liked the {t}.
    even the {ts} were {g}.
    even I, who hates {ts}, liked these.
    I usually hate {ts}, but these are {g}.
    normally I don't like {ts}, but {gc}.
    I am hard to please, but {gc}.
    the {t} takes a while, but it is worth it.
    the {t} is small but {g}.
    the {t} is simple but {g}.
    the {t} is old but still {g}.
    {little} {b}, but {g}.
    {b} but {g}.
    the {t} was {b} but {g}.
    it costs a lot, and yet I don't regret a cent.
    it isn't fancy, but {gc}.
    it has its flaws, but {gc}.
    a few {bnoun}, but nothing serious.
    apart from minor {bnoun} {gc}.
    {gc}, and that despite the {b} {t}.
    {gc}, no matter what others say.
    {gc}, so I can live with the {b} {t}.
    {bc}, but who cares when {gc}?
    {bc}, but I would still come back.
    {bc}, but I will keep it.
    {bc}, but they fixed it at once.
    {bc} the first time, but now {gc}.
    the first {t} was {b}, the second one {gdid}.
    my last {t} was {b}, this one is not.
    my old {t} was {b}, the new one is {g}.
    I sent the old one back, and the new {t} is {g}.
    the {t} could hardly be {ger}.
    the {t} can hardly be improved.
    it would be hard to find a {ger} {t}.
    it would be a shame to miss the {t}.
    it would take a lot to make me switch.
    I would give six stars if I could.
    I would have paid more for it.
    I would have been happy with less.
    I would be lying if I said the {t} was {b}.
    I won't buy anything else.
    I won't look for another {t}.
    I will never buy another brand.
    I will never go anywhere else.
    I'll never use another {t} again.
    I have not stopped smiling.
    I haven't had a {b} {t} here yet.
    we have never had a {b} meal here.
    we have never been treated {ger}.
    we never had to wait.
    you never have to wait.
    they never make you wait.
    they never get an order wrong.
    they did not rush us.
    they did not try to sell us anything.
    they did everything right.
    they know what they are doing.
    nobody knows {ts} better than these people.
    no wonder everyone loves the {t}.
    no wonder the {t} is always full.
    no need to look elsewhere.
    no regrets.
    no line, no {bnoun}, no stress.
    no {b} smell, no {bnoun}.
    no fuss, no {bnoun}, just a {g} {t}.
    the {t} no longer {bdo}.
    it is no longer {b}.
    the {bnoun} are gone since the update.
    they fixed all the {bnoun}.
    it cured my {b} mood.
    I forgot that the {t} was {b}.
    I take back what I said, {gc}.
    I have to admit that {gc}.
    I must admit the {t} is not {b}.
    I'm not easily impressed, but {gc}.
    I'm not usually a fan of {ts}, but {gc}.
    I'm not sorry I bought it.
    I'm not going back to my old one.
    I'm never going back to my old {t}.
    I am anything but disappointed.
    I am far from disappointed with the {t}.
    the {t} was less {b} than the others, and {ger} too.
    the {t} was as {g} as ever.
    the {t} is every bit as {g} as they say.
    the {t} is just as {g} as I hoped.
    as {g} as it gets.
    it does not have to be {ger} than this.
    if there is a {ger} {t}, I have not seen it.
    if it broke, I would buy the same one again.
    it isn't that the {t} is {b}, it is {g}.
    there's no such thing as a {b} {t} here.
    there is little to complain about.
    there is little that could be {ger}.
    little could be done {ger}.
    few things make me this happy.
    it is not often that you find such a {g} {t}.
    it is not every day that a {t} is this {g}.
    you don't often see such a {g} {t}.
    you don't have to be a fan to enjoy the {t}.
    you don't need a more expensive {t}.
    you needn't be rich to enjoy a {g} {t}.
    what the {t} lacks in {gnoun} it makes up for in {gnoun}.
    what more could you want?
    why can't all {ts} be like these?
    why did nobody tell me about this {t} before?
    why pay more when this {t} is so {g}?
    I miss the {t} already.
    I can't imagine life without it.
    I can't remember the last time I had such a {g} {t}.
    I can't think of a {ger} {t}.
    I can't think of anything {b} to say.
    I could eat here every day.
    I could watch it again and again.
    the {t} isn't half as {b} as its cover.
        """)

NEGATIVE = lines("""
    {bc}.
    {bc}!
    {bc}, and {bc}.
    {adv} {b} {t}.
    {b} {t}, {b} {t}.
    what a {b} {t}!
    such a {b} {t}!
    {b}!
    the {t} was not {g} at all.
    not {g} at all.
    not {g}.
    not the least bit {g}.
    the {t} is never {g}.
    the {t} was never {g} for a moment.
    no praise for the {t}.
    no {gnoun} at all.
    no {gnoun} whatsoever in the {t}.
    there was no {gnoun} in the {t}.
    the {t} has no {gnoun}.
    I found no {gnoun} in the {t}.
    zero {gnoun}.
    without any {gnoun}.
    without {gnoun} and without {gnoun}.
    I have yet to find anything {g} about the {t}.
    nothing {g} about the {t}.
    nothing about the {t} was {g}.
    nothing to write home about.
    nothing special.
    nothing works.
    nobody was {g}, and the {t} {bdid}.
    nobody cared that the {t} was {b}.
    none of the {ts} were {g}.
    not one of the {ts} was {g}.
    not a single {g} moment.
    there is not a {g} thing to say about the {t}.
    the {t} was anything but {g}.
    the {t} is by no means {g}.
    the {t} was in no way {g}.
    I can't recommend the {t}.
    I cannot recommend this {t} to anyone.
    I can't say anything {g} about the {t}.
    I can't say that I liked the {t}.
    I can't see why anyone would like the {t}.
    I can't believe how {b} the {t} was.
    I can't imagine a {ber} {t}.
    I couldn't wait for it to end.
    I could not finish it.
    I could not get it to work.
    I could not be less impressed.
    we could not have picked a {ber} {t}.
    the {t} could not be {ber}.
    it doesn't get any {ber} than this.
    it does not get more {b} than this.
    I have never had a {ber} {t}.
    I have never seen such a {b} {t}.
    never have I met such {b} people.
    I have rarely had such a {b} {t}.
    rarely is a {t} this {b}.
    you will not find a {ber} {t}.
    you will be disappointed.
    you will regret it.
    I regret it.
    I regret buying the {t}.
    I would not take the {t} for free.
    I would not wish the {t} on anyone.
    I would not go there again.
    I would not order it again.
    I won't be back.
    we will never come back.
    never again.
    don't bother with this {t}.
    don't waste your money on the {t}.
    don't waste your time.
    don't buy this {t}.
    don't let the {g} {t} fool you, {bc}.
    do not believe the {g} reviews, {bc}.
    it is hard to like the {t}.
    it is impossible to enjoy the {t}.
    how can anyone love this {t}?
    who would like such a {b} {t}?
    why would anyone pay for this?
    what's to like about it?
    there is something wrong with the {t}.
    there is nothing {g} here.
    far from {g}.
    the {t} is far from {g}.
    the {t} is a far cry from the {g} ones I had before.
    I was disappointed by the {t}.
    the {t} let me down.
    the {t} disappointed us.
    the {t} always fails.
    the {t} failed again.
    the {t} failed me after {time}.
    not once did the {t} work.
    you can do better than this {t}.
    you can find a {ger} {t} anywhere.
    you get less than you pay for.
    the {t} isn't {g}.
    the {ts} aren't {g} in the least.
    the {ts} were not {g} either.
    the {t} wasn't {g}, and neither was the {t}.
    neither the {t} nor the {t} was {g}.
    neither {g} nor {g}.
    the {t} was neither {g} nor {g}.
    hardly anything was {g}.
    there is hardly anything to like.
    hardly a {g} {t}.
    hardly worth the money.
    the {t} is not too {g}.
    the {t} is not that {g} after all.
    the {t} is not very {g}.
    the {t} was not particularly {g}.
    the {t} is not exactly {g}.
    the {t} is not really {g}.
    not what I would call {g}.
    not as {g} as people say.
    the {t} was not nearly as {g} as I hoped.
    the {t} is less {g} than I expected.
    less than {g}.
    the {t} was {ber} than I expected.
    {ber} than expected.
    {ber} than I had feared.
    much {ber} than my old one.
    far {ber} than the one I had before.
    every other {t} is {ger}.
    any other {t} is {ger}.
    I have had a {ger} {t} elsewhere.
    I have seen {ger} {ts}.
    few {ts} are as {b} as these.
    this is the {best} {t} in town.
    one of the {best} {ts} I know.
    hands down the {best} {t} I have had.
    I have had {g} {ts} before, and these are not among them.
    other {ts} are {g}, these are not.
    unlike the other {ts}, these are {b}.
    compared with my last one, this {t} is {b}.
    the {t} could have been {ger}.
    the {t} should have been {ger}.
    could be {ger}.
    it leaves something to be desired.
    the {t} leaves a lot to be desired.
    there is room for improvement.
    I expected more of the {t}.
    I expected better.
    for that price I expected a {g} {t}.
    at this price the {t} should be {g}.
    I was not impressed.
    I was not amused by the {t}.
    I am not happy with the {t}.
    I am not a fan of the {t}.
    I am not satisfied.
    I was less than thrilled.
    I did not enjoy the {t}.
    I did not like the {t}.
    {who} did not like the {t}.
    I didn't care for the {t}.
    I don't like the {g} {t}, and {bc}.
    not a {g} {t}.
    not a {g} {t} for the money.
    not my idea of a {g} {t}.
    not worth the money.
    not worth it.
    not worth it, even with the {g} {t}.
    not worth the wait.
    not even the {t} was {g}.
    not even the {g} {t} can save it.
    the {t} lacks {gnoun}.
    there is a lack of {gnoun} here.
    there was little {gnoun}.
    {g} it is not.
    {g}? not at all.
    {g}? anything but.
    is it {g}? no, it is {b}.
    I would hardly call the {t} {g}.
    nobody could call the {t} {g}.
    nobody needs it.
    nobody left happy.
    I thought the {t} would be {g}, but it was {b}.
    I was hoping the {t} would be {g}, but {bc}.
    I hoped for the best, but {bc}.
    I hoped for a {g} {t} and got a {b} one.
    I expected a lot and got little.
    I had high hopes, but {bc}.
    I wanted to like the {t}, but it is {b}.
    I was excited at first, but {bc}.
    I had looked forward to it, but {bc}.
    at first I loved the {t}, now I find it {b}.
    at first {gc}, but {bc}.
    it looks {g}, but {bc}.
    it may look {g}, but {bc}.
    it sounds {g}, yet {bc}.
    people say the {t} is {g}, but they are wrong.
    they told me the {t} was {g}, and they were wrong.
    the {t} used to be {g}, now it is {b}.
    the {t} used to be {g}.
    the {t} has become {ber}.
    the {t} started {g}, but then it got {b}.
    after a {g} start {bc}.
    the {t} is {g}, but everything else is {b}.
    the {t} was {adv} {g}, yet the {t} ruined it.
    the {t} was {g} enough, but {bc}.
    {gc}, but {bc}.
    {gc}, but all in all {bc}.
    {gc}, yet {bc}.
    {gc}. still, {bc}.
    {gc}. but {bc}.
    {gc}; however, {bc}.
    {gc}. unfortunately {bc}.
    although {gc}, {bc}.
    though {gc}, {bc}.
    even though {gc}, {bc}.
    while {gc}, {bc}.
    {bc}, even though {gc}.
    {bc}, although {gc}.
    {bc} even if {gc}.
    despite the {g} {t}, I did not enjoy it.
    despite the {g} {t}, {bc}.
    in spite of the {g} {t} {bc}.
    apart from the {g} {t}, {bc}.
    except for the {t}, everything was {b}.
    the only {g} thing was the {t}, the rest was {b}.
    the only {g} thing about the {t} is the {t}.
    the only {g} thing I can say is that it is over.
    only the {t} was {g}, the rest was {b}.
    {g} {t}, but {b} {t}.
    {g} {t} aside, {bc}.
    the {g} {t} does not make up for the {b} {t}.
    the {g} {t} could not save it.
    if only the {t} were {g}.
    it would be {g} if it worked.
    it would have been {g} if the {t} had not been {b}.
    I wish the {t} were {ger}.
    I wish I had not bought it.
    I wish I could get my money back.
    I should have listened to the {b} reviews.
    I should have known better.
    I want my money back.
    I sent it back.
    I had to return the {t}.
    I threw it away.
    we walked out.
    I fell asleep.
    I turned it off after {time}.
    two hours that I will never get back.
    a waste of money.
    stay away from this {t}.
    avoid the {t}.
    save your money.
    look elsewhere.
    zero stars if I could.
    one star is too much.
    one out of ten.
    two thumbs down.
    thanks for nothing.
    shame on the {t}.
    {who} hated the {t}.
    {who} did not enjoy it.
    {who} left hungry.
    {who} had nothing {g} to say about the {t}.
    nothing but {bnoun}.
    nothing but {bnoun} with the {t}.
    nothing but {b} {ts}.
    the {t} worked for {time}.
    the {t} lasted {time}.
    after {time} the {t} was {b}.
    {time} later it was broken.
    it broke within {time}.
    it did not survive {time}.
    it never works when you need it.
    it doesn't work, doesn't fit, and it {bdo}.
    it is not only {b} but also {b}.
    not only was the {t} {b}, {bc} too.
    the {t} was not just {b}, it was {b}.
    it is cheap, and you notice.
    it isn't {g} like the others.
    the {t} is too {b} to enjoy.
    too {b} for my taste.
    too {b} to be {g}.
    it tries to be {g} without being {g}.
    it is {b} without being {g}.
    more {b} than {g}.
    it is no exaggeration to call the {t} {b}.
    I should not have listened to the fans.
    I was wrong about the {t}, it is {b}.
    it won prizes, but {bc}.
    they call it a masterpiece, but {bc}.
    some people may like it, but {bc}.
    say what you will, {bc}.
    all in all {bc}.
    to my regret {bc}.
    unfortunately {bc}.
    sadly {bc}.
    as always, {bc}.
    I am appalled.
    I am more than annoyed with the {t}.
    I was unpleasantly surprised by the {t}.
    I lost my patience with the {t}.
    hard to forgive.
    {bn}.
    the {t} is {bn}.
    the {t} was far from {gn}.
    the {t} is not {gn}, it is {bn}.
    calling the {t} {g} would be a lie.
    the {t} never gets {g}.
    the {t} has never been {g}.
    I don't think the {t} is {g}.
    I don't think I will come back.
    I don't know what people like about the {t}.
    I don't see what is {g} about it.
    I do not trust this {t} any more.
    I doubt that there is a {ber} {t}.
    I never thought a {t} could be so {b}.
    I got tired of the {t} quickly.
    I have every reason to complain.
    there is no reason to buy it.
    there is no excuse for such a {b} {t}.
    it went on far too long.
    it dragged on forever.
    I wanted it to end.
    I did not laugh once.
    I almost liked the {t}, but {bc}.
    somebody should fix the {t}.
    they need to fix the {t}.
    the {t} needs to be {ger}.
    we waited {time} for a {b} {t}.
    nobody answers the phone.
    nobody came to take our order.
    they don't care about their customers.
    they never said sorry.
    they would not give me a refund.
    the {t} was a lot {ber} than its {g} reputation.
    the {t} turned out to be {b}.
    the {t} proved to be {b} after all.
    rarely have I been so badly served.
    seldom have I seen a {ber} {t}.
    I seldom write reviews, but {bc}.
    you would be foolish to buy the {t}.
    if you want a {g} {t}, look elsewhere.
    if you like {b} {ts}, this is for you.
    who needs a {t} like that?
    who buys such a {b} {t}?
    could the {t} be any {ber}? no.
    anyone who likes the {t} has no taste.
    only a fool would pay for the {t}.
    the critics loved it, I hated it.
    the critics are too kind to the {t}.
    {g} would be the wrong word for the {t}.
    the {t} was {g}? I did not notice, since {bc}.
    I have tried many {ts}, and none were {ber}.
    I have tried everything, nothing helps.
    nothing is {ber} than this {t}.
    nothing went right.
    nothing could save the {b} {t}.
    not even the {t} could save it.
    even the {t} was {b}.
    even my patient father disliked the {t}.
    even the {ts} were {b}.
    even I, who loves {ts}, hated these.
    I usually love {ts}, but these are {b}.
    normally I like {ts}, but {bc}.
    I am easy to please, but {bc}.
    the {t} takes forever, and it is not worth it.
    the {t} is big but {b}.
    the {t} is new but already {b}.
    {little} {b} for the price.
    {little} too {b}.
    the {t} was {g} but {b}.
    {g} but {b}.
    it costs a lot, and you get nothing for it.
    it looks fancy, but {bc}.
    it has its moments, but {bc}.
    a few {g} moments, but not enough.
    a few {g} ideas do not make a {g} {t}.
    apart from the {t}, nothing was {g}.
    {bc}, and that despite the {g} {t}.
    {bc}, no matter what others say.
    {bc}, so the {g} {t} does not help.
    {gc}, but who cares when {bc}?
    {gc}, but I would not come back.
    {gc}, but I sent it back.
    {gc}, but not any more.
    {gc} the first time, but now {bc}.
    the first {t} was {g}, the second one {bdid}.
    my last {t} was {g}, this one is not.
    my old {t} was {g}, the new one is {b}.
    I miss my old {t}, this one is {b}.
    I sent the old one back, and the new {t} is {b}, too.
    the {t} could hardly be {ber}.
    the {t} can hardly be used.
    it would be hard to find a {ber} {t}.
    it would take a lot to make me come back.
    I would give no stars if I could.
    I would have paid to leave.
    I would have been {ger} off without the {t}.
    I would have liked a {ger} {t}.
    I would be lying if I said the {t} was {g}.
    I won't buy anything from them.
    I won't recommend the {t}.
    I will never buy this brand again.
    I will never go there again.
    I'll never use this {t} again.
    I have not stopped being angry.
    I haven't had a {g} {t} here yet.
    we have never had a {g} meal here.
    we have never been treated {ber}.
    we had to wait {time}.
    you always have to wait.
    they make you wait {time}.
    they get every order wrong.
    they rushed us out.
    they only want to sell you something.
    they did everything wrong.
    they don't know what they are doing.
    no wonder nobody likes the {t}.
    no wonder the {t} is always empty.
    no thanks.
    no help, no answer, no refund.
    no {gnoun}, no {gnoun}, just a {b} {t}.
    the {t} no longer works.
    it is no longer {g}.
    it is not {g} any more.
    the {bnoun} began after the update.
    they never fixed the {bnoun}.
    it spoiled my {g} mood.
    I forgot the {t} as soon as it was over.
    I take back what I said, {bc}.
    I have to admit that {bc}.
    I must admit the {t} is not {g}.
    I'm easily impressed, but {bc}.
    I'm usually a fan of {ts}, but {bc}.
    I'm sorry I bought it.
    I'm going back to my old one.
    I am anything but impressed.
    I am far from happy with the {t}.
    the {t} was less {g} than the others, and {ber} too.
    the {t} was as {b} as ever.
    the {t} is every bit as {b} as they say.
    the {t} is just as {b} as I feared.
    as {b} as it gets.
    it has to be {ger} than this.
    if there is a {ber} {t}, I have not seen it.
    if it broke, I would not miss it.
    it isn't that the {t} is {b}, it is just not {g}.
    there's no such thing as a {g} {t} here.
    there is little to like.
    there is little {g} about the {t}.
    little could be done {ber}.
    few things make me this angry.
    it is not often that you find such a {b} {t}.
    you don't often see such a {b} {t}.
    you don't have to be a critic to hate the {t}.
    you need a lot of patience for the {t}.
    you'd have to be desperate to like the {t}.
    what the {t} promises it does not keep.
    what did they think when they made the {t}?
    why can't they make a {g} {t}?
    why did nobody warn me about this {t}?
    why pay so much when the {t} is so {b}?
    I don't miss the {t} at all.
    I can't remember the last time I had such a {b} {t}.
    I can't think of a {ber} {t}.
    I can't think of anything {g} to say.
    I could have done without the {t}.
    I could have cooked {ger} at home.
    the {t} isn't half as {g} as its cover.
    the {t} was not as {g} as the last time.
    the {t} promised {gnoun} and delivered {bnoun}.
    the {t} is {g} in theory, {b} in practice.
    on paper {gc}, in practice {bc}.
    it was supposed to be {g}.
    it is supposed to be {g}, it is not.
    they say it is {g}. it is not.
    it claims to be {g}, but {bc}.
    not quite as {g} as advertised.
    not as advertised.
    not as described.
    not {g} enough.
    the {t} was not {g} enough for the price.
    nowhere near {g}.
    the {t} comes nowhere near the old one.
        """)
