"""The words of the made pages, by language. All of them are our own."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a page in one language. Short ones are labels, long ones are sentences."""

    code: str
    brands: tuple[str, ...]
    menu: tuple[str, ...]
    titles: tuple[str, ...]
    sentences: tuple[str, ...]
    actions: tuple[str, ...]
    things: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    cookies: str
    leftward: bool = False


ENGLISH = Words(
    "en",
    ("Fernhollow", "Quillmark", "Brightwater", "Northbeam", "Saltgrove", "Oakline"),
    ("Home", "Products", "Journal", "Pricing", "Support", "About us"),
    (
        "A calmer place to plan the week",
        "Every harbour has a story",
        "Built for small teams that ship",
        "Slow mornings, strong coffee",
        "Your numbers, at a glance",
        "The long road through the valley",
        "What changed this season",
        "Made by hand, meant to last",
    ),
    (
        "We check every delivery twice, and answer letters on the day they arrive.",
        "The path follows the river for six miles before it turns north into the pines.",
        "Set a goal, invite the others, and see the whole month on one quiet page.",
        "Our workshop opens at eight; visitors are welcome until the light goes.",
        "Prices include tax, and returns are free within thirty days of purchase.",
        "Each report is kept for two years and can be exported at any time.",
        "Two thirds of the votes were counted by midnight, according to the council.",
        "A short list of things that we would buy again, and two that we would not.",
        "The new line opens in spring, with trains every twelve minutes until late.",
        "Nothing is shared with anyone unless you press the button for it.",
    ),
    ("Get started", "Read more", "Add to basket", "Book a visit", "See plans", "Subscribe"),
    (
        "Walnut desk lamp",
        "Linen travel bag",
        "Stoneware mug",
        "Field watch",
        "Canvas shoes",
        "Oak side chair",
        "Glass bottle",
        "Winter vase",
    ),
    (
        ("Full name", "Jane Example"),
        ("Email address", "you@example.com"),
        ("Street and number", "12 Mill Lane"),
        ("Postcode", "AB1 2CD"),
        ("Company", "Optional"),
        ("Phone", "+44 20 5550 1234"),
    ),
    "We use cookies to keep you signed in and to count visits. You can change this at any time.",
)
GERMAN = Words(
    "de",
    ("Moorbrücke", "Lindenhof", "Grünwerk"),
    ("Start", "Angebote", "Über uns", "Preise", "Hilfe", "Kontakt"),
    (
        "Übernachten über dem Fluss",
        "Gutes Werkzeug für jeden Tag",
        "Was diese Woche wichtig wird",
        "Möbel, die bleiben dürfen",
        "Ein Tag in den Bergen",
        "Alles auf einen Blick",
    ),
    (
        "Wir prüfen jede Lieferung zweimal und antworten noch am selben Tag.",
        "Der Weg führt sechs Kilometer am Ufer entlang und biegt dann nach Norden ab.",
        "Alle Preise enthalten die Mehrwertsteuer; Rücksendungen sind kostenlos.",
        "Die Werkstatt öffnet um acht Uhr, Gäste sind bis zum Abend willkommen.",
        "Für größere Gruppen empfehlen wir, den Tisch früh zu bestellen.",
        "Die neue Strecke wird im Frühling eröffnet, alle zwölf Minuten fährt ein Zug.",
    ),
    ("Jetzt buchen", "Mehr erfahren", "In den Warenkorb", "Anmelden"),
    ("Schreibtischlampe", "Reisetasche", "Becher aus Ton", "Armbanduhr", "Stuhl aus Eiche", "Glasflasche"),
    (
        ("Vor- und Nachname", "Erika Beispiel"),
        ("E-Mail-Adresse", "name@beispiel.de"),
        ("Straße", "Mühlgasse 12"),
        ("Ort", "Köln"),
    ),
    "Wir verwenden Cookies, damit Sie angemeldet bleiben. Sie können das jederzeit ändern.",
)
RUSSIAN = Words(
    "ru",
    ("Северный порт", "Берёзка", "Лаборатория"),
    ("Главная", "Каталог", "Новости", "Доставка", "Помощь", "О нас"),
    (
        "Утро начинается с кофе",
        "Новая линия метро откроется весной",
        "Всё для работы в одном окне",
        "Поддержка Linux и macOS уже в версии 2.4",
        "Прогулка вдоль старой набережной",
        "Что изменилось этой осенью",
    ),
    (
        "Мы проверяем каждую посылку дважды и отвечаем на письма в тот же день.",
        "Тропа идёт вдоль реки шесть километров, а потом поворачивает на север.",
        "Установите приложение Weather Box для Android или откройте его в браузере Chrome.",
        "Цены указаны с налогом, вернуть покупку можно в течение тридцати дней.",
        "Отчёт в формате PDF хранится два года и доступен по ссылке из письма.",
        "Музей работает до восьми вечера, вход с улицы Садовой.",
    ),
    ("Подробнее", "В корзину", "Войти", "Заказать звонок"),
    ("Настольная лампа", "Дорожная сумка", "Кружка из глины", "Наручные часы", "Дубовый стул", "Кеды Urban"),
    (
        ("Имя и фамилия", "Анна Петрова"),
        ("Электронная почта", "name@example.ru"),
        ("Город", "Казань"),
        ("Телефон", "+7 900 555-12-34"),
    ),
    "Сайт использует файлы cookie, чтобы запомнить ваш выбор. Это можно изменить в настройках.",
)
CHINESE = Words(
    "zh",
    ("青木书店", "海风", "云上"),
    ("首页", "产品", "新闻", "价格", "帮助", "关于我们"),
    ("慢下来的早晨", "一页看清整个月", "港口的灯又亮了", "手工制作，经久耐用", "全新 Pro 版本发布", "春天的新线路"),
    (
        "每件商品发货前都会检查两次，来信当天回复。",
        "小路沿着河边走六公里，然后转向北面的松林。",
        "价格含税，三十天内可以免费退货。",
        "工作室早上八点开门，欢迎参观到天黑。",
        "支持 Windows 和 macOS，数据保存两年。",
        "新线路将在春天开通，每十二分钟一班车。",
    ),
    ("立即购买", "了解更多", "加入购物车", "免费试用"),
    ("胡桃木台灯", "亚麻旅行包", "陶瓷杯", "野外手表", "橡木椅子", "玻璃瓶"),
    (("姓名", "请输入姓名"), ("电子邮箱", "name@example.cn"), ("城市", "杭州"), ("电话", "请输入电话")),
    "我们使用 Cookie 来保持登录状态，您可以随时更改设置。",
)
JAPANESE = Words(
    "ja",
    ("森の灯", "みなと", "しずく"),
    ("ホーム", "商品", "ニュース", "料金", "サポート", "会社案内"),
    (
        "静かな朝とコーヒー",
        "一か月を一ページで",
        "港の灯りがともる",
        "長く使える手仕事",
        "新しい路線のご案内",
        "今週のおすすめ",
    ),
    (
        "すべての商品は発送前に二度確認しています。",
        "川沿いの道を六キロ歩くと、松林に入ります。",
        "価格は税込みで、三十日以内の返品は無料です。",
        "工房は朝八時に開き、夕方まで見学できます。",
        "アプリは iOS と Android でお使いいただけます。",
        "新しい路線は春に開業し、十二分ごとに運行します。",
    ),
    ("詳しく見る", "カートに入れる", "予約する", "ログイン"),
    ("くるみのランプ", "リネンの旅行かばん", "陶器のマグ", "腕時計", "オークの椅子", "ガラス瓶"),
    (("お名前", "山田 花子"), ("メールアドレス", "name@example.jp"), ("住所", "東京都"), ("電話番号", "03-5550-1234")),
    "このサイトではログイン状態を保つために Cookie を使用します。",
)
KOREAN = Words(
    "ko",
    ("푸른숲", "바람결", "한길"),
    ("홈", "상품", "소식", "가격", "도움말", "회사 소개"),
    (
        "조용한 아침과 커피",
        "한 달을 한눈에",
        "항구에 불이 켜지면",
        "오래 쓰는 물건",
        "새로운 노선 안내",
        "이번 주 추천",
    ),
    (
        "모든 상품은 보내기 전에 두 번 확인합니다.",
        "강을 따라 난 길은 여섯 킬로미터 뒤에 북쪽으로 꺾입니다.",
        "가격에는 세금이 포함되어 있으며 반품은 무료입니다.",
        "작업실은 아침 여덟 시에 문을 엽니다.",
        "보고서는 이 년 동안 보관되며 언제든지 받을 수 있습니다.",
        "새 노선은 봄에 열리고 열두 분마다 열차가 옵니다.",
    ),
    ("자세히 보기", "장바구니", "예약하기", "시작하기"),
    ("호두나무 램프", "여행 가방", "도자기 컵", "손목시계", "참나무 의자", "유리병"),
    (("이름", "홍길동"), ("이메일", "name@example.kr"), ("도시", "서울"), ("전화", "02-555-1234")),
    "로그인 상태를 유지하기 위해 쿠키를 사용합니다.",
)
ARABIC = Words(
    "ar",
    ("مرفأ", "نخيل", "بيان"),
    ("الرئيسية", "المنتجات", "الأخبار", "الأسعار", "المساعدة", "من نحن"),
    (
        "صباح هادئ وقهوة",
        "الشهر كله في صفحة",
        "أضواء الميناء",
        "صنع باليد ليبقى",
        "خط جديد في الربيع",
        "مختارات الأسبوع",
    ),
    (
        "نفحص كل طلب مرتين ونجيب على الرسائل في اليوم نفسه.",
        "يسير الطريق مع النهر ستة أميال ثم يتجه شمالا.",
        "الأسعار تشمل الضريبة والإرجاع مجاني خلال ثلاثين يوما.",
        "تفتح الورشة في الثامنة صباحا ونرحب بالزوار.",
        "يحفظ كل تقرير سنتين ويمكن تنزيله في أي وقت.",
        "يفتح الخط الجديد في الربيع كل اثنتي عشرة دقيقة.",
    ),
    ("ابدأ الآن", "اقرأ المزيد", "أضف إلى السلة", "احجز"),
    ("مصباح مكتب", "حقيبة سفر", "كوب خزفي", "ساعة يد", "كرسي بلوط", "زجاجة"),
    (("الاسم الكامل", "سارة أحمد"), ("البريد", "name@example.com"), ("المدينة", "عمان"), ("الهاتف", "0795550123")),
    "نستخدم ملفات تعريف الارتباط لإبقائك متصلا، ويمكنك تغيير ذلك.",
    leftward=True,
)
LANGUAGES = {language.code: language for language in (ENGLISH, GERMAN, RUSSIAN, CHINESE, JAPANESE, KOREAN, ARABIC)}
